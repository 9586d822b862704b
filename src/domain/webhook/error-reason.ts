import { parseJsonBytes } from '../../contract/parse-json.ts'

/** "Present only when status is ERROR; diagnostic text": what the body of an event says of why; undefined for nothing. */
export function errorReasonOf(body: Uint8Array): string | undefined {
  const event = parseJsonBytes(body) as { error_reason?: unknown } | null | undefined
  const reason = event?.error_reason
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}
