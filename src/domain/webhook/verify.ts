import type { CapturedDelivery } from './capture.ts'
import { sign, signaturePattern, signingKey, verify } from '../../contract/signature.ts'
import type { Diagnosis } from './diagnose.ts'
import { BadSignatureError, InvalidInputError } from '../../errors/kinds.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'

interface Verification {
  valid: boolean
  /** The body parsed as JSON once its signature is good; null before that, and where it is not JSON. */
  event: unknown
  /** Why it is not valid. */
  failure: BadSignatureError | undefined
}

/** Checks a delivery's signature over its exact bytes, before parsing anything ("Events", rule 1). */
export function verifyDelivery(delivery: CapturedDelivery, secret: string): Verification {
  return verifyWith(delivery, signingKey(secret))
}

export type SigningKey = ReturnType<typeof signingKey>

/** A secret made ready, for many deliveries. */
export function signingKeyOf(secret: string): SigningKey {
  return signingKey(secret)
}

/** The same with a key that is ready, for many deliveries. */
export function verifyWith(delivery: CapturedDelivery, key: SigningKey): Verification {
  const [signature, ...more] = delivery.signatures
  if (signature === undefined)
    return invalidResult('the signature is missing', 'Add --signature, or capture its headers.')
  if (more.length > 0) {
    return invalidResult(
      'there are several signatures',
      'The service sends exactly one X-Service-Signature header.',
    )
  }
  if (!verify(delivery.body, signature, key)) {
    return signaturePattern.test(signature)
      ? invalidResult('the signature does not match the body', mismatchHint)
      : invalidResult(`the signature ${misshape(signature)}`, shapeHint)
  }
  return { valid: true, event: parseJsonBytes(delivery.body) ?? null, failure: undefined }
}

export interface ExplainedVerification extends Verification {
  /** What probably happened; undefined where it is valid, and where nothing that was tried would match. */
  diagnosis: Diagnosis | undefined
}

export function withDiagnosis(
  failure: BadSignatureError,
  diagnosis: Diagnosis | undefined,
): Pick<Verification, 'failure'> {
  if (diagnosis === undefined) return { failure }
  return { failure: new BadSignatureError(failure.message, { hint: diagnosis.message }) }
}

/** One delivery of a log, verified. */
export interface LoggedVerification extends Verification {
  place: string
  diagnosis: Diagnosis | undefined
}

export interface LogVerification {
  deliveries: LoggedVerification[]
  /** Set where one of them is not valid. */
  failure: BadSignatureError | undefined
}

/** Trying what happened costs about a hundred signatures. */
export const maxDiagnosed = 50

export function notAllValid(failed: number, of: number): BadSignatureError {
  const deliveries = of === 1 ? 'delivery' : 'deliveries'
  return new BadSignatureError(`${failed} of ${of} ${deliveries} ${failed === 1 ? 'is' : 'are'} not valid`, {
    hint: 'Treat deliveries that are not valid as not sent by the service.',
  })
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

export const shapeHint = 'The service sends 64 lowercase hexadecimal characters and nothing else.'

const mismatchHint =
  'Either the body is not the exact bytes that were sent (a re-formatted or re-encoded body never matches), or the secret is a different one.'

export function invalidResult(message: string, hint: string): Verification {
  return { valid: false, event: null, failure: new BadSignatureError(message, { hint }) }
}

/** What is wrong with a signature's form, without repeating it. */
function misshape(signature: string): string {
  if (signature === '') return 'is empty'
  if (/^sha256=/i.test(signature)) return 'has a prefix, "sha256="'
  if (signature.trim() !== signature) return 'has white space around it'
  if (signature.length !== 64) return `has ${signature.length} characters instead of 64`
  if (/^[0-9a-fA-F]+$/.test(signature)) return 'is written in upper case'
  return 'contains characters that are not hexadecimal'
}
