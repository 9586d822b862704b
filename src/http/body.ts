import { Buffer } from 'node:buffer'

/** A body whole, or its first `most` bytes: what comes after them is not read. */
export async function collect(
  body: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let taken = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    taken += chunk.byteLength
    if (taken >= most) break
  }
  return Buffer.concat(chunks)
}
