/** Texts of questions may come from the service: the functions that draw them remove control characters. */
export interface TextQuestion {
  message: string
  /** A line below the question, shown while the answer has no problem. */
  help?: string | undefined
  /** Text in the line at the start; the user can confirm, change or delete it. */
  initial?: string | undefined
  /**
   * Returns why the text is invalid, or undefined. Called after every key, so that the reason is shown while the user
   * types.
   */
  check?: ((value: string) => string | undefined) | undefined
  /** Whether the user may go back to the previous question; a PromptBackError is thrown then. */
  canGoBack?: boolean | undefined
}

export interface SecretQuestion {
  message: string
  /** As for a text, but called after Enter only; the reason must not repeat the secret. */
  check?: ((value: string) => string | undefined) | undefined
}

export interface Choice<T> {
  value: T
  label: string
  /** Shown while the cursor is on the choice. */
  detail?: string | undefined
}

export interface SelectQuestion<T> {
  message: string
  /** The choices, at least one. */
  choices: readonly Choice<T>[]
  /** The choice under the cursor at the start; default is the first. */
  initial?: T | undefined
  /** Whether typed text filters the choices by their labels; otherwise a digit selects a position in the list. */
  isSearchable?: boolean | undefined
}

export interface ConfirmQuestion {
  /**
   * Lines above the question about its subject; control characters are removed and long lines wrapped when they are
   * drawn.
   */
  above?: readonly string[] | undefined
  message: string
  /** The answer if the user only presses Enter; default no. */
  initial?: boolean | undefined
  /** Whether a yes has serious consequences: keys pressed before the question is shown are then discarded. */
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
