import type { RefcheckError } from '../errors/base.ts'

/** Ends a command that has printed its answer, failure included: only the exit code is left to do. */
export class AlreadyReported extends Error {
  readonly failure: RefcheckError

  constructor(failure: RefcheckError) {
    super(failure.message)
    this.failure = failure
  }
}
