import { sign, signaturePattern, signingKey, verify } from '../../contract/signature.ts'
import { BadSignatureError } from '../../errors/bad-signature.ts'
import { InvalidInputError } from '../../errors/invalid-input.ts'
import type { CapturedDelivery } from './capture.ts'

export interface Verification {
  valid: boolean
  /** The body parsed as JSON once its signature is good; null before that, and where it is not JSON. */
  event: unknown
  /** Why it is not valid. */
  failure: BadSignatureError | undefined
}

/** Checks a delivery's signature over its exact bytes, before parsing anything ("Events", rule 1). */
export function verifyDelivery(delivery: CapturedDelivery, secret: string): Verification {
  const [signature, ...more] = delivery.signatures
  if (signature === undefined)
    return invalid('there is no signature', 'Give it with --signature, or capture its headers.')
  if (more.length > 0) {
    return invalid(
      'there are several signatures',
      'The service sends exactly one X-Service-Signature header.',
    )
  }
  if (!signaturePattern.test(signature)) return invalid(`the signature ${misshape(signature)}`, shapeHint)
  if (!verify(delivery.body, signature, signingKey(secret))) {
    return invalid('the signature does not match the body', mismatchHint)
  }
  return { valid: true, event: parsed(delivery.body), failure: undefined }
}

/** The signature a sender with this secret would make. */
export function signBody(body: Uint8Array, secret: string): string {
  if (body.byteLength === 0) {
    throw new InvalidInputError('there is nothing to sign: the body is empty', {
      hint: 'Give the exact bytes in a file or on stdin.',
    })
  }
  return sign(body, signingKey(secret))
}

const shapeHint = 'The service sends 64 lowercase hexadecimal characters and nothing else.'
const mismatchHint =
  'Either the bytes are not the exact ones that were sent (a re-formatted or re-encoded body never matches), or the secret is another one.'

function invalid(message: string, hint: string): Verification {
  return { valid: false, event: null, failure: new BadSignatureError(message, { hint }) }
}

/** What is wrong with a signature's form, without repeating it. */
function misshape(signature: string): string {
  if (signature === '') return 'is empty'
  if (/^sha256=/i.test(signature)) return 'has a prefix, "sha256="'
  if (signature.trim() !== signature) return 'has white space around it'
  if (signature.length !== 64) return `has ${signature.length} characters instead of 64`
  if (/^[0-9a-fA-F]+$/.test(signature)) return 'is written in upper case'
  return 'holds characters that are not hexadecimal'
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    return null
  }
}
