import { signingKey } from '../../contract/signature.ts'
import type { CapturedDelivery, LoggedDelivery } from '../../domain/webhook/capture.ts'
import { diagnose, type OtherSecret } from '../../domain/webhook/diagnose.ts'
import {
  withDiagnosis,
  type ExplainedVerification,
  invalidResult,
  type DeliveryResult,
  type LogResult,
  maxDiagnoses,
  createInvalidDeliveriesError,
  shapeHint,
  verifyDelivery,
  verifyWith,
} from '../../domain/webhook/verify.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/**
 * Verifies a delivery and, if it is invalid, adds the probable cause, which becomes the hint of the failure.
 * `readOtherSecrets` is called only then.
 */
export async function explainDelivery(
  delivery: CapturedDelivery,
  secret: string,
  readOtherSecrets: () => Promise<readonly OtherSecret[]>,
): Promise<ExplainedVerification> {
  const verification = verifyDelivery(delivery, secret)
  const { failure } = verification
  if (failure === undefined) return { ...verification, diagnosis: undefined }
  const diagnosis = diagnose(delivery, secret, await readOtherSecrets())
  return { ...verification, ...withDiagnosis(failure, diagnosis), diagnosis }
}

/** Verifies every delivery of a log. Throws an InvalidInputError if the log has none. */
export async function verifyLog(
  log: Iterable<LoggedDelivery>,
  secret: string,
  readOtherSecrets: () => Promise<readonly OtherSecret[]>,
): Promise<LogResult> {
  const key = signingKey(secret)
  const deliveries: DeliveryResult[] = []
  let failedCount = 0
  for (const { position, delivery, fault = 'there is nothing to verify' } of log) {
    const result = delivery === undefined ? invalidResult(fault, shapeHint) : verifyWith(delivery, key)
    failedCount += Number(!result.valid)
    const shouldDiagnose = !result.valid && delivery !== undefined && failedCount <= maxDiagnoses
    const diagnosis = shouldDiagnose ? diagnose(delivery, secret, await readOtherSecrets()) : undefined
    deliveries.push({ place: position, ...result, diagnosis })
  }
  if (deliveries.length === 0) {
    throw new InvalidInputError('the file contains no deliveries', {
      hint: 'See the supported formats with: refcheck webhook verify --help',
    })
  }
  return {
    deliveries,
    failure: failedCount === 0 ? undefined : createInvalidDeliveriesError(failedCount, deliveries.length),
  }
}
