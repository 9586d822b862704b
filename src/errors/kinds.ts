import { type ErrorDetails, RefcheckError } from './base.ts'

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
