import type {
  ConfirmQuestion,
  Prompter,
  SecretQuestion,
  SelectQuestion,
  TextQuestion,
} from '../../src/prompt/prompter.ts'
import { InterruptedError, PromptBackError } from './run-command.ts'

type TextPattern = string | RegExp

/** One answer, and the text of its question (`ask`). */
export type Answer = { ask: TextPattern } & (
  | {
      /** Replaces the text in the line; undefined leaves it. */
      type: string | undefined
      /** The expected text in the line before typing. */
      initial?: string | undefined
      /** The expected reason why the answer is refused; the same question then takes the next answer. */
      refused?: TextPattern | undefined
      help?: TextPattern | undefined
    }
  | { secret: string; refused?: TextPattern | undefined }
  /** Chooses the option with this label. `meanwhile` is called before the answer. */
  | {
      choose: TextPattern
      offered?: readonly string[] | undefined
      meanwhile?: (() => Promise<void>) | undefined
    }
  /** `meanwhile` is called before the answer. */
  | { confirm: boolean; meanwhile?: (() => unknown) | undefined }
  /** Presses Ctrl-C. */
  | { leave: true }
  /** Presses the key that returns to the previous question. */
  | { back: true }
)

type Kind = 'type' | 'secret' | 'choose' | 'confirm'

/**
 * Answers questions from a list, in its order. Throws if a question is not the one that the next answer expects;
 * `finish` throws if answers remain. These errors are not RefcheckErrors, so that no code under test handles them.
 */
export class ScriptedPrompter implements Prompter {
  readonly #answers: Answer[]
  /** All questions so far. A question whose answer was refused is repeated. */
  readonly askedQuestions: string[] = []

  readonly #show: (text: string) => void

  /** `show` receives each question with its answer, as a line. */
  constructor(answers: readonly Answer[] = [], show: (text: string) => void = () => undefined) {
    this.#answers = [...answers]
    this.#show = show
  }

  finish(): void {
    if (this.#answers.length === 0) return
    throw new Error(
      `questions that were not asked: ${this.#answers.map(({ ask }) => String(ask)).join(', ')}`,
    )
  }

  async text({ message, help, initial = '', check, canGoBack = false }: TextQuestion): Promise<string> {
    for (;;) {
      const answer = this.#next('type', message, canGoBack)
      if (answer.initial !== undefined) this.#expectSame('initial value', message, initial, answer.initial)
      if (answer.help !== undefined) this.#expectSame('help', message, help ?? '', answer.help)
      const text = (answer.type ?? initial).trim()
      const problem = check?.(text)
      this.#show(`${message.replace(/:?$/, ':')} ${text}${problem === undefined ? '' : `  (${problem})`}\n`)
      if (this.#isAccepted(message, problem, answer.refused)) return text
    }
  }

  async secret({ message, check }: SecretQuestion): Promise<string> {
    for (;;) {
      const { secret, refused } = this.#next('secret', message)
      const problem = check?.(secret)
      this.#show(`${message.replace(/:?$/, ':')} ****${problem === undefined ? '' : `  (${problem})`}\n`)
      if (this.#isAccepted(message, problem, refused)) return secret
    }
  }

  async select<T>({ message, choices }: SelectQuestion<T>): Promise<T> {
    const { choose, offered, meanwhile } = this.#next('choose', message)
    const labels = choices.map(({ label }) => label)
    if (offered !== undefined) this.#expectSame('choices', message, labels.join('\n'), offered.join('\n'))
    const matchingChoices = choices.filter(({ label }) => matchesWords(label, choose))
    const [choice] = matchingChoices
    if (choice === undefined || matchingChoices.length > 1) {
      throw new Error(
        `"${message}" offers ${labels.join(', ')}; ${String(choose)} is ${String(matchingChoices.length)} of them`,
      )
    }
    await meanwhile?.()
    this.#show(`${message.replace(/:?$/, ':')} ${choice.label}\n`)
    return choice.value
  }

  async confirm({ linesAbove = [], message }: ConfirmQuestion): Promise<boolean> {
    const { confirm, meanwhile } = this.#next('confirm', message)
    if (linesAbove.length > 0) this.#show(`${linesAbove.join('\n')}\n`)
    await meanwhile?.()
    this.#show(`${message} ${confirm ? 'yes' : 'no'}\n`)
    return confirm
  }

  #next<K extends Kind>(kind: K, message: string, canGoBack = false): Extract<Answer, Record<K, unknown>> {
    this.askedQuestions.push(message)
    const answer = this.#answers.shift()
    if (answer === undefined) throw new Error(`unexpected question: "${message}"`)
    if (!matchesWords(message, answer.ask)) {
      throw new Error(`"${message}" is asked, and ${String(answer.ask)} was expected`)
    }
    if ('leave' in answer) this.#show(`${message} ^C\n`)
    if ('leave' in answer) throw new InterruptedError('cancelled; nothing was done')
    if ('back' in answer && canGoBack) {
      this.#show(`${message.replace(/:?$/, ':')} (back)\n`)
      throw new PromptBackError()
    }
    if (!(kind in answer)) throw new Error(`"${message}" takes an answer to ${kind}`)
    return answer as Extract<Answer, Record<K, unknown>>
  }

  #isAccepted(message: string, problem: string | undefined, refused: TextPattern | undefined): boolean {
    if (problem === undefined && refused === undefined) return true
    if (problem !== undefined && refused !== undefined && matchesWords(problem, refused)) return false
    throw new Error(`"${message}": refused with ${String(problem)}, and ${String(refused)} was expected`)
  }

  #expectSame(what: string, message: string, actual: string, expected: TextPattern): void {
    if (!matchesWords(actual, expected))
      throw new Error(`"${message}": ${what} is "${actual}", not "${String(expected)}"`)
  }
}

function matchesWords(text: string, words: TextPattern): boolean {
  return typeof words === 'string' ? text === words : words.test(text)
}
