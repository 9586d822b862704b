import type {
  ConfirmQuestion,
  Prompter,
  SecretQuestion,
  SelectQuestion,
  TextQuestion,
} from '../../src/prompt/prompter.ts'
import { InterruptedError, PromptBackError } from './run-command.ts'

type Words = string | RegExp

/** One answer, and the question it belongs to. */
export type Answer = { ask: Words } & (
  | {
      /** Typed instead of the text in the line; undefined leaves that. */
      type: string | undefined
      /** What has to stand in the line beforehand. */
      initial?: string | undefined
      /** The reason with which the answer has to be refused; the same question then goes on. */
      refused?: Words | undefined
      help?: Words | undefined
    }
  | { secret: string; refused?: Words | undefined }
  /** By label. */
  | { choose: Words; offered?: readonly string[] | undefined }
  /** `meanwhile`: what happens while the person thinks. */
  | { confirm: boolean; meanwhile?: (() => void) | undefined }
  /** Ctrl-C. */
  | { leave: true }
  /** The key that leads to the question before. */
  | { back: true }
)

type Kind = 'type' | 'secret' | 'choose' | 'confirm'

/**
 * Answers from a list, in its order. A question that is not the next one fails at once; `finish` fails for
 * answers without a question. The thrown errors are plain, so that no code under test handles them.
 */
export class ScriptedPrompter implements Prompter {
  readonly #answers: Answer[]
  /** Every question put so far, an answer refused counting once more. */
  readonly asked: string[] = []

  readonly #show: (text: string) => void

  /** `show` receives each question with its answer, as a line. */
  constructor(answers: readonly Answer[] = [], show: (text: string) => void = () => undefined) {
    this.#answers = [...answers]
    this.#show = show
  }

  finish(): void {
    if (this.#answers.length === 0) return
    throw new Error(`nobody asked: ${this.#answers.map(({ ask }) => String(ask)).join(', ')}`)
  }

  async text({ message, help, initial = '', check, canGoBack = false }: TextQuestion): Promise<string> {
    for (;;) {
      const answer = this.#next('type', message, canGoBack)
      if (answer.initial !== undefined) this.#same('initial value', message, initial, answer.initial)
      if (answer.help !== undefined) this.#same('help', message, help ?? '', answer.help)
      const text = (answer.type ?? initial).trim()
      const problem = check?.(text)
      this.#show(`${message.replace(/:?$/, ':')} ${text}${problem === undefined ? '' : `  (${problem})`}\n`)
      if (this.#taken(message, problem, answer.refused)) return text
    }
  }

  async secret({ message, check }: SecretQuestion): Promise<string> {
    for (;;) {
      const { secret, refused } = this.#next('secret', message)
      const problem = check?.(secret)
      this.#show(`${message.replace(/:?$/, ':')} ****${problem === undefined ? '' : `  (${problem})`}\n`)
      if (this.#taken(message, problem, refused)) return secret
    }
  }

  async select<T>({ message, choices }: SelectQuestion<T>): Promise<T> {
    const { choose, offered } = this.#next('choose', message)
    const labels = choices.map(({ label }) => label)
    if (offered !== undefined) this.#same('choices', message, labels.join('\n'), offered.join('\n'))
    const fitting = choices.filter(({ label }) => fits(label, choose))
    const [choice] = fitting
    if (choice === undefined || fitting.length > 1) {
      throw new Error(
        `"${message}" offers ${labels.join(', ')}; ${String(choose)} is ${String(fitting.length)} of them`,
      )
    }
    this.#show(`${message.replace(/:?$/, ':')} ${choice.label}\n`)
    return choice.value
  }

  async confirm({ above = [], message }: ConfirmQuestion): Promise<boolean> {
    const { confirm, meanwhile } = this.#next('confirm', message)
    if (above.length > 0) this.#show(`${above.join('\n')}\n`)
    meanwhile?.()
    this.#show(`${message} ${confirm ? 'yes' : 'no'}\n`)
    return confirm
  }

  #next<K extends Kind>(kind: K, message: string, canGoBack = false): Extract<Answer, Record<K, unknown>> {
    this.asked.push(message)
    const answer = this.#answers.shift()
    if (answer === undefined) throw new Error(`unexpected question: "${message}"`)
    if (!fits(message, answer.ask)) {
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

  #taken(message: string, problem: string | undefined, refused: Words | undefined): boolean {
    if (problem === undefined && refused === undefined) return true
    if (problem !== undefined && refused !== undefined && fits(problem, refused)) return false
    throw new Error(`"${message}": refused with ${String(problem)}, and ${String(refused)} was expected`)
  }

  #same(what: string, message: string, actual: string, expected: Words): void {
    if (!fits(actual, expected))
      throw new Error(`"${message}": ${what} is "${actual}", not "${String(expected)}"`)
  }
}

function fits(text: string, words: Words): boolean {
  return typeof words === 'string' ? text === words : words.test(text)
}
