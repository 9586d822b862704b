/** What a command line printed with --json. */
export interface Ran {
  code: number
  /** Undefined where it printed nothing. */
  document: unknown
  /** It does not answer what was asked for. */
  isRefused?: boolean | undefined
}

export interface RunOptions {
  stdin?: string | undefined
  signal: AbortSignal
  /** Called for each word that the command has for a person. */
  onNote?: (() => void) | undefined
}

/** Runs a command line of this program that only reads, without a terminal. */
export type RunReading = (argv: readonly string[], options: RunOptions) => Promise<Ran>
