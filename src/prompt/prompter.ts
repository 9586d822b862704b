/**
 * A question for one line of text. Its texts may come from the service: control characters are removed when it is
 * drawn.
 */
export interface TextQuestion {
  message: string
  /** A line below the question, shown while the answer has no problem. */
  help?: string | undefined
  /** The text in the line at the start, which the user can confirm, change or delete. */
  initial?: string | undefined
  /**
   * Returns why the text is invalid, or undefined if it is valid. Called after every key, so that the reason is shown
   * while the user types.
   */
  check?: ((value: string) => string | undefined) | undefined
  /** Whether the user may go back to the previous question; a PromptBackError is thrown then. */
  canGoBack?: boolean | undefined
}

export interface SecretQuestion {
  message: string
  /** Returns why the secret is invalid, without repeating it. Called only after Enter. */
  check?: ((value: string) => string | undefined) | undefined
}

export interface Choice<T> {
  value: T
  label: string
  /** A text that is shown while the cursor is on the choice. */
  detail?: string | undefined
}

export interface SelectQuestion<T> {
  message: string
  /** At least one choice. */
  choices: readonly Choice<T>[]
  /** The choice under the cursor at the start; by default the first. */
  initial?: T | undefined
  /** Whether typed text filters the choices by their labels; otherwise a digit selects a position in the list. */
  isSearchable?: boolean | undefined
}

export interface ConfirmQuestion {
  /**
   * Lines about the subject of the question, shown above it. Control characters are removed, and long lines are
   * wrapped.
   */
  linesAbove?: readonly string[] | undefined
  message: string
  /** The answer if the user only presses Enter; by default no. */
  initial?: boolean | undefined
  /**
   * Whether a yes has serious consequences. Keys that were pressed before the question is shown are then discarded.
   */
  isDestructive?: boolean | undefined
}

/**
 * Asks the user. Each method throws an InterruptedError if the user leaves (Ctrl-C, Ctrl-D), and a UsageError if
 * there is no terminal, which is checked with each question.
 */
export interface Prompter {
  /** Reads one line and trims it. */
  text(question: TextQuestion): Promise<string>
  /** Reads one line exactly as typed, without showing it. */
  secret(question: SecretQuestion): Promise<string>
  select<T>(question: SelectQuestion<T>): Promise<T>
  confirm(question: ConfirmQuestion): Promise<boolean>
}
