/** Texts may come from the service: the drawing functions make them harmless. */
export interface TextQuestion {
  message: string
  /** A line below the question while nothing is wrong with the answer. */
  help?: string | undefined
  /** Is in the line from the start, to be confirmed, changed or cleared. */
  initial?: string | undefined
  /** Why this text will not do, or undefined. Asked with every key, so that the reason shows as one types. */
  check?: ((value: string) => string | undefined) | undefined
  /** Whether the person may go back to the question before; a PromptBackError is thrown then. */
  canGoBack?: boolean | undefined
}

export interface SecretQuestion {
  message: string
  /** As for a text, but asked once the answer is given; the reason must not repeat the secret. */
  check?: ((value: string) => string | undefined) | undefined
}

export interface Choice<T> {
  value: T
  label: string
  /** Shown while the choice is the one pointed at. */
  detail?: string | undefined
}

export interface SelectQuestion<T> {
  message: string
  /** At least one. */
  choices: readonly Choice<T>[]
  /** The choice pointed at first; the first one where absent. */
  initial?: T | undefined
  /** What is typed narrows the choices to the labels that contain it; else a digit is a position in the list. */
  narrows?: boolean | undefined
}

export interface ConfirmQuestion {
  /** What the question is about: lines above it, each made harmless and cut or wrapped when drawn. */
  above?: readonly string[] | undefined
  message: string
  /** What Enter alone means; no where absent. */
  initial?: boolean | undefined
  /** A yes has consequences: keys typed before the question is shown do not answer it. */
  isDestructive?: boolean | undefined
}

/**
 * Asks a person. Each method throws an InterruptedError when they leave (Ctrl-C, Ctrl-D), and a UsageError
 * without a terminal; that is checked with each question, never before.
 */
export interface Prompter {
  /** One line, white space around it taken off. */
  text(question: TextQuestion): Promise<string>
  /** One line, never shown, exactly as typed. */
  secret(question: SecretQuestion): Promise<string>
  select<T>(question: SelectQuestion<T>): Promise<T>
  confirm(question: ConfirmQuestion): Promise<boolean>
}
