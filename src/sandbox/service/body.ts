import { Refusal } from './answer.ts'

const limits = { '1 MiB': 1_048_576, '64 KiB': 65_536, none: Number.POSITIVE_INFINITY }

/** The text of a body; 400 for one that is too large or no UTF-8. */
export async function readBody(request: Request, limit: keyof typeof limits): Promise<string> {
  const most = limits[limit]
  const tooLarge = (): Refusal => new Refusal(400, `body: must not be larger than ${limit}`)
  const announced = request.headers.get('Content-Length')
  if (announced !== null && Number(announced) > most) throw tooLarge()
  const bytes = announced === null ? await collect(request, most, tooLarge) : await request.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal(400, 'body: must be UTF-8')
  }
}

/** A body of unknown length, given up as soon as it is too long. */
async function collect(request: Request, most: number, tooLarge: () => Refusal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
