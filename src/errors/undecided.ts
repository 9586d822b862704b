import type { ErrorDetails } from './base.ts'
import { InvalidInputError } from './kinds.ts'

/** What only a person can say of a file: the flag's name without its dashes. */
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
