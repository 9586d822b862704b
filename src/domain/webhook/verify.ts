import type { CapturedDelivery } from './capture.ts'
import { sign, signaturePattern, signingKey, verify } from '../../contract/signature.ts'
import type { Diagnosis } from './diagnose.ts'
import { BadSignatureError, InvalidInputError } from '../../errors/kinds.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'

interface Verification {
  valid: boolean
  /** The parsed body; null if the signature is not valid or the body is not JSON. */
  event: unknown
  /** The error of a delivery that is not valid. */
  failure: BadSignatureError | undefined
}

/** Checks the signature of a delivery over its exact bytes, before anything is parsed ("Events", rule 1). */
export function verifyDelivery(delivery: CapturedDelivery, secret: string): Verification {
  return verifyWith(delivery, signingKey(secret))
}

export type SigningKey = ReturnType<typeof signingKey>

/** Checks a delivery as `verifyDelivery` does, with a prepared key. */
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
      : invalidResult(`the signature ${formatProblem(signature)}`, shapeHint)
  }
  return { valid: true, event: parseJsonBytes(delivery.body) ?? null, failure: undefined }
}

export interface ExplainedVerification extends Verification {
  /** The probable cause; undefined if the delivery is valid or no cause was found. */
  diagnosis: Diagnosis | undefined
}

/** Returns the failure, with the message of the diagnosis as its hint if there is one. */
export function withDiagnosis(
  failure: BadSignatureError,
  diagnosis: Diagnosis | undefined,
): Pick<Verification, 'failure'> {
  if (diagnosis === undefined) return { failure }
  return { failure: new BadSignatureError(failure.message, { hint: diagnosis.message }) }
}

/** The verification of a delivery of a log. */
export interface DeliveryResult extends Verification {
  place: string
  diagnosis: Diagnosis | undefined
}

export interface LogResult {
  deliveries: DeliveryResult[]
  /** The error of the command; undefined if all deliveries are valid. */
  failure: BadSignatureError | undefined
}

/** The maximum number of diagnoses per log, because each computes about a hundred signatures. */
export const maxDiagnoses = 50

export function createInvalidDeliveriesError(failed: number, total: number): BadSignatureError {
  const deliveries = total === 1 ? 'delivery' : 'deliveries'
  return new BadSignatureError(
    `${failed} of ${total} ${deliveries} ${failed === 1 ? 'is' : 'are'} not valid`,
    {
      hint: 'Treat deliveries that are not valid as not sent by the service.',
    },
  )
}

/** Returns the signature of a body with a secret. Throws InvalidInputError if the body is empty. */
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

/** Returns the problem of a malformed signature, without repeating the signature. */
function formatProblem(signature: string): string {
  if (signature === '') return 'is empty'
  if (/^sha256=/i.test(signature)) return 'has a prefix, "sha256="'
  if (signature.trim() !== signature) return 'has white space around it'
  if (signature.length !== 64) return `has ${signature.length} characters instead of 64`
  if (/^[0-9a-fA-F]+$/.test(signature)) return 'is written in upper case'
  return 'contains characters that are not hexadecimal'
}
