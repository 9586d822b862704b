/** The codes that scripts read as `error.code`, with the exit code of the command (src/docs/cli.md, "Exit codes"). */
export const exitCodes = {
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
} as const

export type ErrorCode = keyof typeof exitCodes

export interface ErrorDetails {
  /** What the user can do next: one sentence, shown on a separate line. */
  hint?: string | undefined
  /**
   * A label such as `Continue with`. It is shown after the hint, before the command line that was run, if running that
   * line again continues the work.
   */
  rerunLabel?: string | undefined
  /** HTTP status of the response; undefined if there was no response. */
  status?: number | undefined
  /** Path of the invalid field, as the service or the validation of refcheck names it. */
  field?: string | undefined
  /** Seconds until the service accepts calls again. */
  retryAfter?: number | undefined
  /** The order that the error is about. */
  order?: OrderInError | undefined
  /** All problems of an input that has several; each is shown on a separate line. */
  problems?: readonly FieldProblem[] | undefined
  /** Whether the user chose to leave all the remaining work undone, so that it is not shown as an error. */
  isUserChoice?: boolean | undefined
  cause?: unknown
}

/** One of several problems of an input (src/docs/cli.md, "Streams"). */
export interface FieldProblem {
  /** The path of the field in the names of the service. */
  field: string
  value?: string | undefined
  problem: string
  /** The whole sentence, with the name that the field has in the input: a flag, or a path in JSON. */
  text: string
}

/** The order that a `duplicate` matches, or the row of an `outcome_unknown` (src/docs/cli.md, "Streams"). */
export interface OrderInError {
  requestId?: string | undefined
  batchId?: string | undefined
  row?: number | undefined
  /** Set for a duplicate only. */
  match?: 'exact' | 'similar' | undefined
}

/** Base class of all expected failures. `code` alone determines the exit code. */
export abstract class RefcheckError extends Error {
  abstract readonly code: ErrorCode
  hint: string | undefined
  readonly rerunLabel: string | undefined
  readonly status: number | undefined
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly order: OrderInError | undefined
  problems: readonly FieldProblem[] | undefined
  readonly isUserChoice: boolean

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    this.hint = details.hint
    this.rerunLabel = details.rerunLabel
    this.status = details.status
    this.field = details.field
    this.retryAfter = details.retryAfter
    this.order = details.order
    this.problems = details.problems
    this.isUserChoice = details.isUserChoice ?? false
  }
}

/** The command line is wrong: its flags or arguments, or a prompt is needed and there is no terminal. */
export class UsageError extends RefcheckError {
  override readonly code = 'usage'
}

/** A value is invalid, according to refcheck or to a 400 of the service. */
export class InvalidInputError extends RefcheckError {
  override readonly code = 'invalid_input'
}

/** An order with the same package and recipient was made before. */
export class DuplicateError extends RefcheckError {
  override readonly code = 'duplicate'
}

/** The service returned a 401, or there is no API key. */
export class UnauthenticatedError extends RefcheckError {
  override readonly code = 'unauthenticated'
}

/** The service returned a 403: membership, role, credits, trial or subscription. */
export class ForbiddenError extends RefcheckError {
  override readonly code = 'forbidden'
}

/** The service returned a 404, or there is no local record of that name. */
export class NotFoundError extends RefcheckError {
  override readonly code = 'not_found'
}

/** The service returned a 429, and the command could not wait or its time to wait ran out. */
export class ThrottledError extends RefcheckError {
  override readonly code = 'throttled'
}

/** The service was unreachable, or returned a 5xx or a malformed response, and nothing was created. */
export class UnavailableError extends RefcheckError {
  override readonly code = 'unavailable'
}

/** The outcome of a create is unknown: the service may have accepted it. */
export class OutcomeUnknownError extends RefcheckError {
  override readonly code = 'outcome_unknown'
}

/** A webhook signature does not match the bytes. */
export class BadSignatureError extends RefcheckError {
  override readonly code = 'bad_signature'
}

/** The command ended, but part of the work was not done. */
export class IncompleteError extends RefcheckError {
  override readonly code = 'incomplete'
}

/** The time limit of a wait has passed. */
export class TimedOutError extends RefcheckError {
  override readonly code = 'timed_out'
}

/** The user interrupted the command (Ctrl-C). Records in the journal remain. */
export class InterruptedError extends RefcheckError {
  override readonly code = 'interrupted'
}

/** Returns the error for Ctrl-C in a command that the same command line continues. */
export function interrupted(cause?: unknown, hint?: string): InterruptedError {
  return new InterruptedError('interrupted', { hint, rerunLabel: 'Continue with', cause })
}

/** The disk or the operating system refused an operation. */
export class IoError extends RefcheckError {
  override readonly code = 'io'
}

/** Returns the error for a file of the user that cannot be read; a RefcheckError is returned unchanged. */
export function unreadableFileError(name: string, error: unknown): Error {
  if (error instanceof RefcheckError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new UsageError(`file not found: ${name}`, { hint: 'Check the path.' })
  return new IoError(`${name} cannot be read${code === '' ? '' : ` (${code})`}`, {
    hint: 'Check its permissions.',
    cause: error,
  })
}

/** The store accepts no orders until the user has checked it. */
export class StoreClosedError extends IoError {}

/** Another process has exclusive use of the store at the moment. A retry may succeed. */
export class StoreBusyError extends IoError {}

/** The database of the store cannot be used at the moment, and nothing was changed. A retry may succeed. */
export class StoreDownError extends StoreBusyError {}

/**
 * The database did not answer a COMMIT, so it is not known whether it committed. No decision may be based on the
 * result.
 */
export class NoAnswerError extends IoError {}

/** A fault of refcheck: a state that should be impossible. */
export class InternalError extends RefcheckError {
  override readonly code = 'internal'
}

/** A question about a file that only the user can answer. The value is the name of the flag without its dashes. */
export type UndecidedFlag = 'sheet' | 'header-row' | 'encoding' | 'hidden'

export interface PossibleAnswer {
  /** The value for the flag. */
  value: string
  /** The label of the choice in a prompt. */
  label: string
}

/** A file can be read in more than one way. On a terminal the user is asked; otherwise the file is refused. */
export class UndecidedError extends InvalidInputError {
  readonly flag: UndecidedFlag
  readonly question: string
  /** The likeliest answer comes first; there is at least one. */
  readonly answers: readonly PossibleAnswer[]

  constructor(
    message: string,
    details: ErrorDetails & { flag: UndecidedFlag; question: string; answers: readonly PossibleAnswer[] },
  ) {
    super(message, details)
    this.flag = details.flag
    this.question = details.question
    this.answers = details.answers
  }
}

/** The user went back to the previous question in a prompt. */
export class PromptBackError extends Error {
  constructor() {
    super('went back to the question before')
    this.name = 'PromptBackError'
  }
}
