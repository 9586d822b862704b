import type { ErrorCode } from '../errors/base.ts'

/** cli-contract "Exit codes". */
export const exitCodes: Readonly<Record<ErrorCode, number>> = {
  internal: 1,
  io: 1,
  usage: 2,
  invalid_input: 2,
  duplicate: 2,
  unauthenticated: 3,
  forbidden: 4,
  not_found: 5,
  throttled: 6,
  unavailable: 7,
  outcome_unknown: 8,
  bad_signature: 9,
  incomplete: 10,
  timed_out: 11,
  interrupted: 130,
}
