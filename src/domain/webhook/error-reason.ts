import { parseJson } from '../../contract/parse-json.ts'

/** "Present only when status is ERROR; diagnostic text": what the body of an event says of why; undefined for nothing. */
export function errorReasonOf(body: Uint8Array): string | undefined {
  try {
    const event = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
    const reason = (event as { error_reason?: unknown } | null)?.error_reason
    return typeof reason === 'string' && reason !== '' ? reason : undefined
  } catch {
    return undefined
  }
}
