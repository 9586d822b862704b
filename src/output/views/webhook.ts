import { harmless } from '../../host/text.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'
import type { Verification } from '../../domain/webhook/verify.ts'

export function verificationView(verification: Verification): View {
  return {
    json: { valid: verification.valid, event: verification.event },
    text: (terminal) => (verification.valid ? validText(verification.event, terminal) : ''),
  }
}

function validText(event: unknown, terminal: Terminal): string {
  const valid = styled(terminal, 'green', 'valid')
  if (typeof event !== 'object' || event === null)
    return `${valid}  the signature matches; the body is not JSON`
  const { event: type, request_id, status, error_reason } = event as Record<string, unknown>
  const parts = [type, request_id, status, error_reason].filter((part) => typeof part === 'string')
  return `${valid}  ${parts.map((part) => harmless(part)).join('  ')}`
}

export function signatureView(signature: string): View {
  return { json: { signature }, text: () => signature }
}
