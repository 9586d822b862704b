import { type Readable, Writable } from 'node:stream'

import { wrapAnsi } from 'fast-wrap-ansi'

import { InterruptedError, UsageError, PromptBackError } from '../errors/kinds.ts'
import { joinUnits, sanitize, separateUnits } from '../host/text.ts'
import type { ConfirmQuestion, Prompter, SecretQuestion, SelectQuestion, TextQuestion } from './prompter.ts'

export interface TerminalOptions {
  input: { readonly isTTY: boolean; readonly stream: Readable }
  /** The stream on which questions are drawn: stderr, because stdout is only for results. */
  output: { write(data: string): void; readonly isTTY: boolean; readonly columns: number }
  color: boolean
  /** Ends an open question like Ctrl-C. */
  signal?: AbortSignal | undefined
}

/** The maximum number of lines with choices that are shown at once. */
const maxChoiceLines = 12

/** The streams and signal for inquirer. */
interface InquirerContext {
  input: Readable
  output: Writable
  signal: AbortSignal
}

/** Asks questions with inquirer, which is loaded when the first question is asked. */
export class TerminalPrompter implements Prompter {
  readonly #options: TerminalOptions

  constructor(options: TerminalOptions) {
    this.#options = options
  }

  text({ message, help = '', initial = '', check, canGoBack = false }: TextQuestion): Promise<string> {
    return this.#ask(message, async (context): Promise<string> => {
      const { promptStyle, textPrompt } = await import('./text-prompt.ts')
      const config = {
        message: this.#drawQuestion(message),
        help: sanitize(help),
        // The layout is kept, because this text is the answer if the user confirms it.
        initial: sanitize(initial, { keepsLayout: true }),
        check: sanitizeProblem(check),
        canGoBack,
        theme: promptStyle(this.#options.color),
        columns: this.#options.output.columns,
      }
      const answer = await textPrompt(config, context)
      if (typeof answer === 'string') return answer
      throw new PromptBackError()
    })
  }

  secret({ message, check }: SecretQuestion): Promise<string> {
    return this.#ask(message, async (context) => {
      const { module, theme } = await this.#loadInquirer(context)
      const findProblem = sanitizeProblem(check)
      const { answer } = await module<{ answer: string }>([
        {
          type: 'password',
          name: 'answer',
          message: this.#drawQuestion(message),
          mask: '*',
          toggleMask: false,
          validate: (value: string) => findProblem(value) ?? true,
          theme,
        },
      ])
      return answer
    })
  }

  async select<T>({ message, choices, initial, isSearchable }: SelectQuestion<T>): Promise<T> {
    const drawnChoices = choices.map(({ label, detail = '' }, value) => ({
      name: this.#drawChoice(label),
      short: sanitize(label),
      value,
      description: wrapAnsi(sanitize(detail), this.#options.output.columns, { hard: true }),
    }))
    const drawnQuestion = this.#drawQuestion(message)
    const findMatches = (typed: string): typeof drawnChoices =>
      drawnChoices.filter(({ short }) => short.toLowerCase().includes(typed.trim().toLowerCase()))
    const areAllVisible = drawnChoices.flatMap(({ name }) => name.split('\n')).length <= maxChoiceLines
    const index = await this.#ask(message, async (context) => {
      const { module, theme } = await this.#loadInquirer(context)
      const { answer } = await module<{ answer: number }>([
        {
          ...(isSearchable === true
            ? { type: 'search', source: (typed = '') => findMatches(typed) }
            : { type: 'select', choices: drawnChoices, loop: false }),
          name: 'answer',
          message: drawnQuestion,
          // `findIndex` is not used without `initial`: a choice may have the value undefined.
          default: initial === undefined ? 0 : choices.findIndex(({ value }) => value === initial),
          pageSize: maxChoiceLines,
          theme: {
            ...theme,
            // With other key bindings a typed letter selects a choice that starts with it: y would select "Yes: order
            // again".
            keybindings: ['vim'],
            style: {
              ...theme.style,
              answer: this.#answerStyle(drawnQuestion, theme.style.answer),
              keysHelpTip: (keys: [string, string][]) =>
                theme.style.keysHelpTip(
                  keys,
                  areAllVisible ? [] : [`${drawnChoices.length} choices, not all are shown`],
                ),
            },
          },
        },
      ])
      return answer
    })
    const chosenChoice = choices[index]
    if (chosenChoice === undefined) throw new RangeError('a choice that was not offered')
    return chosenChoice.value
  }

  confirm({
    linesAbove = [],
    message,
    initial = false,
    isDestructive = false,
  }: ConfirmQuestion): Promise<boolean> {
    return this.#ask(message, async (context) => {
      for (const line of linesAbove) this.#options.output.write(`${this.#drawLineAbove(line)}\n`)
      if (isDestructive) await discardTypedAhead(this.#options.input.stream)
      const { module, theme } = await this.#loadInquirer(context)
      const { answer } = await module<{ answer: boolean }>([
        {
          type: 'confirm',
          name: 'answer',
          message: this.#drawQuestion(message, '(y/N)'),
          default: initial,
          theme,
        },
      ])
      return answer
    })
  }

  /**
   * Wraps a question between words. Leaves room for the mark before it and for `after`, a text that follows it on the
   * line of its last word.
   */
  #drawQuestion(message: string, after = ''): string {
    const text = joinUnits(sanitize(message))
    const width = this.#options.output.columns - 2
    const wrapLine = (line: string): string => separateUnits(wrapAnsi(line, width, { hard: true }))
    if (after === '') return wrapLine(text)
    const end = `\u00A0${after}`
    const wrappedWithEnd = wrapLine(`${text}${end}`)
    if (wrappedWithEnd.endsWith(end)) return wrappedWithEnd.slice(0, -end.length)
    return wrapLine(`${text} ${after}`).slice(0, -after.length).replace(/ $/, '')
  }

  /** Wraps a choice between words, and indents its further lines. inquirer would break lines within words. */
  #drawChoice(label: string): string {
    const [firstLine = '', ...otherLines] = wrapAnsi(sanitize(label), this.#options.output.columns - 4, {
      hard: true,
    }).split('\n')
    return [firstLine, ...otherLines.map((line) => `    ${line}`)].join('\n')
  }

  /** Wraps a line above a question with its indentation. */
  #drawLineAbove(line: string): string {
    const text = sanitize(line, { keepsLayout: true })
    const [indent = ''] = /^ */.exec(text) ?? []
    const wrapped = wrapAnsi(text.trim(), this.#options.output.columns - indent.length, { hard: true })
    return wrapped === text.trim() ? text : wrapped.replaceAll(/^/gm, indent)
  }

  /** Returns a style that draws an answer below the question if it does not fit after it. */
  #answerStyle(question: string, draw: (answer: string) => string): (answer: string) => string {
    const [lastLine = ''] = question.split('\n').slice(-1)
    const maxLength = this.#options.output.columns - lastLine.length - 3
    return (answer) => (answer.length <= maxLength ? draw(answer) : `\n  ${draw(answer)}`)
  }

  async #loadInquirer(context: InquirerContext) {
    const [{ createPromptModule }, { promptStyle }] = await Promise.all([
      import('inquirer'),
      import('./text-prompt.ts'),
    ])
    return { module: createPromptModule(context), theme: promptStyle(this.#options.color) }
  }

  async #ask<T>(message: string, prompt: (context: InquirerContext) => Promise<T>): Promise<T> {
    const { input, output, signal } = this.#options
    // Without a terminal, inquirer writes escape sequences into a pipe and never returns.
    if (!input.isTTY || !output.isTTY) {
      throw new UsageError(`"${message}" needs an answer, and there is no terminal to ask on`, {
        hint: 'Give the answer as a flag; list the flags with --help.',
      })
    }
    const leftTerminal = new AbortController()
    const stopWatching = watchLeaving(input.stream, () => leftTerminal.abort())
    try {
      return await prompt({
        input: input.stream,
        output: writableOf(output),
        signal: AbortSignal.any([leftTerminal.signal, ...(signal === undefined ? [] : [signal])]),
      })
    } catch (error) {
      if (!isStoppedByUser(error)) throw error
      throw new InterruptedError('cancelled; nothing was done', { cause: error })
    } finally {
      stopWatching()
    }
  }
}

function sanitizeProblem(check: TextQuestion['check']): (value: string) => string | undefined {
  return (value) => {
    const problem = check?.(value)
    return problem === undefined ? undefined : sanitize(problem)
  }
}

/**
 * Whether inquirer threw the error because the user left the question. These errors are recognised by name, because
 * their classes are in a separate package.
 */
function isStoppedByUser(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)
}

/**
 * Calls `leave` when the user presses Ctrl-D on an empty line or the terminal is closed: both close readline and
 * would leave inquirer waiting for ever. Returns a function that removes the listeners.
 */
function watchLeaving(input: Readable, leave: () => void): () => void {
  const onKey = (_text: unknown, key: { name?: string; ctrl?: boolean } | undefined): void => {
    if (key?.ctrl !== true || key.name !== 'd') return
    // On a line with text, Ctrl-D deletes a character and the input is not paused.
    setImmediate(() => {
      if (input.isPaused()) leave()
    })
  }
  input.on('keypress', onKey)
  input.on('end', leave)
  input.on('close', leave)
  return () => {
    input.off('keypress', onKey)
    input.off('end', leave)
    input.off('close', leave)
  }
}

/** The number of turns of the event loop in which all buffered input of a terminal is read. */
const turnsToRead = 10

/** Discards keys that were pressed before the question, because the user did not mean them as an answer. */
async function discardTypedAhead(input: Readable): Promise<void> {
  const discard = (): void => undefined
  const terminal = input as Readable & { setRawMode?: (isRaw: boolean) => unknown }
  // In line mode, the terminal would retain keys that were not followed by Enter.
  terminal.setRawMode?.(true)
  input.on('data', discard)
  for (let turn = 0; turn < turnsToRead; turn += 1) await new Promise((done) => void setImmediate(done))
  input.off('data', discard)
  input.pause()
  terminal.setRawMode?.(false)
}

/** Creates a stream for one question. When inquirer ends the stream, the terminal stays open. */
function writableOf(output: TerminalOptions['output']): Writable {
  const writable = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'))
      done()
    },
  })
  return Object.defineProperties(writable, {
    isTTY: { value: true },
    columns: { get: () => output.columns },
  })
}
