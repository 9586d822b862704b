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
