import { signingKey } from '../../contract/signature.ts'
import type { CapturedDelivery, LoggedDelivery } from '../../domain/webhook/capture.ts'
import { diagnose, type OtherSecret } from '../../domain/webhook/diagnose.ts'
import {
  withDiagnosis,
  type ExplainedVerification,
  invalidResult,
  type LoggedVerification,
  type LogVerification,
  maxDiagnosed,
  notAllValid,
  shapeHint,
  verifyDelivery,
  verifyWith,
} from '../../domain/webhook/verify.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/**
 * The same, and where it fails what probably happened: its words become the failure's hint. `others`
 * are asked for only then.
 */
export async function explainDelivery(
  delivery: CapturedDelivery,
  secret: string,
  others: () => Promise<readonly OtherSecret[]>,
): Promise<ExplainedVerification> {
  const verification = verifyDelivery(delivery, secret)
  const { failure } = verification
  if (failure === undefined) return { ...verification, diagnosis: undefined }
  const diagnosis = diagnose(delivery, secret, await others())
  return { ...verification, ...withDiagnosis(failure, diagnosis), diagnosis }
}

/** Judges every delivery of a log; none at all is an InvalidInputError. */
export async function verifyLog(
  log: Iterable<LoggedDelivery>,
  secret: string,
  others: () => Promise<readonly OtherSecret[]>,
): Promise<LogVerification> {
  const key = signingKey(secret)
  const deliveries: LoggedVerification[] = []
  let failed = 0
  for (const { position, delivery, fault = 'there is nothing to verify' } of log) {
    const result = delivery === undefined ? invalidResult(fault, shapeHint) : verifyWith(delivery, key)
    failed += Number(!result.valid)
    const isTried = !result.valid && delivery !== undefined && failed <= maxDiagnosed
    const diagnosis = isTried ? diagnose(delivery, secret, await others()) : undefined
    deliveries.push({ place: position, ...result, diagnosis })
  }
  if (deliveries.length === 0) {
    throw new InvalidInputError('the file contains no deliveries', {
      hint: 'See the supported formats with: refcheck webhook verify --help',
    })
  }
  return { deliveries, failure: failed === 0 ? undefined : notAllValid(failed, deliveries.length) }
}
