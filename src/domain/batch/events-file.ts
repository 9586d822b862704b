import { uuid } from '../../contract/request-body.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { parseJson } from '../../contract/parse-json.ts'

/**
 * Ids of requests in a file of captured events: JSON objects a line, each an event itself
 * (`request_id`), or a capture with the event as text or object in `body`. A file of its own, since it loads zod.
 */
export function requestIdsIn(text: string, name: string): string[] {
  const ids = new Set<string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const id = requestIdOf(parsed(line))
    if (id === undefined) {
      throw new InvalidInputError(`${name}: line ${at + 1} is not an event with a request_id`, {
        hint: 'Nothing was changed. Give one JSON object per line: the event, or a capture with the event in "body".',
      })
    }
    ids.add(id)
  }
  return [...ids]
}

function requestIdOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { request_id, body, body_base64 } = value as Partial<Record<string, unknown>>
  const id = uuid.safeParse(request_id)
  if (id.success) return id.data.toLowerCase()
  if (typeof body_base64 === 'string')
    return requestIdOf(parsed(Buffer.from(body_base64, 'base64').toString()))
  return typeof body === 'string' ? requestIdOf(parsed(body)) : requestIdOf(body)
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
