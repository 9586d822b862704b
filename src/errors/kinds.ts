/** What a script reads as `error.code`, with the exit code of the command; src/docs/cli.md, "Exit codes". */
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
  /** What to do next: one sentence, shown on a line of its own. */
  hint?: string | undefined
  /** What introduces the command line that was run, where running it again is what to do; shown after the hint. */
  again?: string | undefined
  /** HTTP status of the answer, where one came. */
  status?: number | undefined
  /** Path of the field at fault, as the service or our own validation names it. */
  field?: string | undefined
  /** Seconds to wait before the service takes calls again. */
  retryAfter?: number | undefined
  /** The order that it is about. */
  order?: OrderInError | undefined
  /** Everything that is wrong, where that is several things; shown one a line. */
  problems?: readonly FieldProblem[] | undefined
  /** Whether all that is left undone was chosen, so that it is shown as no error. */
  isChosen?: boolean | undefined
  cause?: unknown
}

/** One of several things that are wrong with an input (src/docs/cli.md, "Streams"). */
export interface FieldProblem {
  /** As the service names it. */
  field: string
  value?: string | undefined
  problem: string
  /** The whole sentence, in the words of the input: a flag, or a path in JSON. */
  text: string
}

/** What a `duplicate` matches, and the row of an `outcome_unknown` (src/docs/cli.md, "Streams"). */
export interface OrderInError {
  requestId?: string | undefined
  batchId?: string | undefined
  row?: number | undefined
  /** Of a duplicate. */
  match?: 'exact' | 'similar' | undefined
}

/** Every failure the program foresees. Its `code` alone decides the exit code. */
export abstract class RefcheckError extends Error {
  abstract readonly code: ErrorCode
  hint: string | undefined
  readonly again: string | undefined
  readonly status: number | undefined
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly order: OrderInError | undefined
  problems: readonly FieldProblem[] | undefined
  readonly isChosen: boolean

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    this.hint = details.hint
    this.again = details.again
    this.status = details.status
    this.field = details.field
    this.retryAfter = details.retryAfter
    this.order = details.order
    this.problems = details.problems
    this.isChosen = details.isChosen ?? false
  }
}

/** The command line itself is wrong: flags, arguments, or a prompt needed and no terminal. */
export class UsageError extends RefcheckError {
  override readonly code = 'usage'
}

/** A value fails validation, here or by a 400 of the service. */
export class InvalidInputError extends RefcheckError {
  override readonly code = 'invalid_input'
}

/** The same order (package and recipient) was made before. */
export class DuplicateError extends RefcheckError {
  override readonly code = 'duplicate'
}

/** A 401, or no key at hand. */
export class UnauthenticatedError extends RefcheckError {
  override readonly code = 'unauthenticated'
}

/** A 403: membership, role, credits, trial or subscription. */
export class ForbiddenError extends RefcheckError {
  override readonly code = 'forbidden'
}

/** A 404, or a name this machine does not know. */
export class NotFoundError extends RefcheckError {
  override readonly code = 'not_found'
}

/** A 429, and waiting was not allowed or ran out. */
export class ThrottledError extends RefcheckError {
  override readonly code = 'throttled'
}

/** Unreachable, a 5xx or a malformed answer, and nothing was created. */
export class UnavailableError extends RefcheckError {
  override readonly code = 'unavailable'
}

/** A create that may or may not have been accepted. */
export class OutcomeUnknownError extends RefcheckError {
  override readonly code = 'outcome_unknown'
}

/** A webhook signature that does not match the bytes. */
export class BadSignatureError extends RefcheckError {
  override readonly code = 'bad_signature'
}

/** Finished, but not all of it. */
export class IncompleteError extends RefcheckError {
  override readonly code = 'incomplete'
}

/** A wait's own time limit has passed. */
export class TimedOutError extends RefcheckError {
  override readonly code = 'timed_out'
}

/** The person stopped it (Ctrl-C); what was journaled stays. */
export class InterruptedError extends RefcheckError {
  override readonly code = 'interrupted'
}

/** Ctrl-C, where all that it cost is that the rest is still to do: the command line itself continues. */
export function interrupted(cause?: unknown, hint?: string): InterruptedError {
  return new InterruptedError('interrupted', { hint, again: 'Continue with', cause })
}

/** The disk or the operating system refused something. */
export class IoError extends RefcheckError {
  override readonly code = 'io'
}

/** The store takes no orders until a person has checked it. */
export class StoreClosedError extends IoError {}

/** Another process has the store for itself just then: the same may go well in a moment. */
export class StoreBusyError extends IoError {}

/** The database of the store cannot be used just then, and nothing was changed: the same may go well once it can. */
export class StoreDownError extends StoreBusyError {}

/** The database of the store was asked to commit, and did not answer: it may or may not have. Nothing may follow from it. */
export class NoAnswerError extends IoError {}

/** A fault of this program: a state it holds impossible. */
export class InternalError extends RefcheckError {
  override readonly code = 'internal'
}

/** What only a person can decide about a file: the flag's name without its dashes. */
export type Undecided = 'sheet' | 'header-row' | 'encoding' | 'hidden'

export interface PossibleAnswer {
  /** As the flag takes it. */
  value: string
  /** What the file would then be read as. */
  label: string
}

/** A file that can be read in more than one way. Refused as it stands; a person at a terminal is asked instead. */
export class UndecidedError extends InvalidInputError {
  readonly about: Undecided
  readonly question: string
  /** The likeliest first; at least one. */
  readonly answers: readonly PossibleAnswer[]

  constructor(
    message: string,
    details: ErrorDetails & { about: Undecided; question: string; answers: readonly PossibleAnswer[] },
  ) {
    super(message, details)
    this.about = details.about
    this.question = details.question
    this.answers = details.answers
  }
}

/** A person asked for the question before this one. */
export class PromptBackError extends Error {
  constructor() {
    super('went back to the question before')
    this.name = 'PromptBackError'
  }
}
