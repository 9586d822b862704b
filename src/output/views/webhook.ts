import { sanitize } from '../../host/text.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { ListView, View } from '../view.ts'
import type { ExplainedVerification, LoggedVerification } from '../../domain/webhook/verify.ts'

export function verificationView(verification: ExplainedVerification): View {
  const { valid, event, diagnosis } = verification
  return {
    json: { valid, event, ...(diagnosis !== undefined && { diagnosis }) },
    text: (terminal) => (valid ? validText(event, terminal) : ''),
  }
}

function validText(event: unknown, terminal: Terminal): string {
  const valid = styled(terminal, 'green', 'valid')
  if (typeof event !== 'object' || event === null)
    return `${valid}  the signature matches; the body is not JSON`
  const { event: type, request_id, status, error_reason } = event as Record<string, unknown>
  const parts = [type, request_id, status, error_reason].filter((part) => typeof part === 'string')
  return `${valid}  ${parts.map((part) => sanitize(part)).join('  ')}`
}

/** A row a delivery of a log: where it stands, whether it is valid, what it says or why not. */
export function loggedVerificationsView(
  deliveries: readonly LoggedVerification[],
): ListView<LoggedVerification> {
  return {
    rows: deliveries,
    json: ({ place, valid, event, failure, diagnosis }) => ({
      place,
      valid,
      ...identity(event),
      event,
      ...(failure !== undefined && { problem: failure.message }),
      ...(diagnosis !== undefined && { diagnosis }),
    }),
    columns: [
      { name: 'place', value: ({ place }) => place },
      {
        name: 'valid',
        value: ({ valid }) => valid,
        show: ({ valid }) => (valid ? 'valid' : 'invalid'),
        style: ({ valid }) => (valid ? 'green' : 'red'),
      },
      { name: 'request_id', value: ({ event }) => identity(event).request_id, whole: true },
      { name: 'status', value: ({ event }) => identity(event).status },
      {
        name: 'problem',
        value: ({ failure, diagnosis }) =>
          failure === undefined
            ? null
            : `${failure.message}${diagnosis === undefined ? '' : `. ${diagnosis.message}`}`,
      },
    ],
    empty: 'It contains no deliveries.',
  }
}

function identity(event: unknown): { request_id: string | null; status: string | null } {
  const fields = typeof event === 'object' && event !== null ? event : {}
  const { request_id, status } = fields as Record<string, unknown>
  return {
    request_id: typeof request_id === 'string' ? request_id : null,
    status: typeof status === 'string' ? status : null,
  }
}

export function signatureView(signature: string): View {
  return { json: { signature }, text: () => signature }
}
