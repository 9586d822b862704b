import { type Readable, Writable } from 'node:stream'

import { wrapAnsi } from 'fast-wrap-ansi'

import { InterruptedError, UsageError, PromptBackError } from '../errors/kinds.ts'
import { sanitize } from '../host/text.ts'
import type { ConfirmQuestion, Prompter, SecretQuestion, SelectQuestion, TextQuestion } from './prompter.ts'

export interface TerminalOptions {
  input: { readonly isTTY: boolean; readonly stream: Readable }
  /** Where questions are drawn: stderr, for stdout carries the answer and nothing else. */
  output: { write(data: string): void; readonly isTTY: boolean; readonly columns: number }
  color: boolean
  /** Ends an open question as Ctrl-C does. */
  signal?: AbortSignal | undefined
}

/** Lines of choices that are shown at once. */
const maxLines = 12

/** What inquirer draws with. */
interface Context {
  input: Readable
  output: Writable
  signal: AbortSignal
}

/** Asks with inquirer, which is loaded at the first question. */
export class TerminalPrompter implements Prompter {
  readonly #options: TerminalOptions

  constructor(options: TerminalOptions) {
    this.#options = options
  }

  text({ message, help = '', initial = '', check, canGoBack = false }: TextQuestion): Promise<string> {
    return this.#ask(message, async (context): Promise<string> => {
      const { promptStyle, textPrompt } = await import('./text-prompt.ts')
      const config = {
        message: this.#question(message),
        help: sanitize(help),
        // It is the answer where the person keeps it.
        initial: sanitize(initial, { layout: true }),
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
      const { module, theme } = await this.#inquirer(context)
      const problem = sanitizeProblem(check)
      const { answer } = await module<{ answer: string }>([
        {
          type: 'password',
          name: 'answer',
          message: this.#question(message),
          mask: '*',
          toggleMask: false,
          validate: (value: string) => problem(value) ?? true,
          theme,
        },
      ])
      return answer
    })
  }

  async select<T>({ message, choices, initial, narrows }: SelectQuestion<T>): Promise<T> {
    const shown = choices.map(({ label, detail = '' }, value) => ({
      name: this.#choice(label),
      short: sanitize(label),
      value,
      description: wrapAnsi(sanitize(detail), this.#options.output.columns, { hard: true }),
    }))
    const asked = this.#question(message)
    const holding = (typed: string): typeof shown =>
      shown.filter(({ short }) => short.toLowerCase().includes(typed.trim().toLowerCase()))
    const areAllSeen = shown.flatMap(({ name }) => name.split('\n')).length <= maxLines
    const index = await this.#ask(message, async (context) => {
      const { module, theme } = await this.#inquirer(context)
      const { answer } = await module<{ answer: number }>([
        {
          ...(narrows === true
            ? { type: 'search', source: (typed = '') => holding(typed) }
            : { type: 'select', choices: shown, loop: false }),
          name: 'answer',
          message: asked,
          // A choice whose value is undefined is not the first one for that.
          default: initial === undefined ? 0 : choices.findIndex(({ value }) => value === initial),
          pageSize: maxLines,
          theme: {
            ...theme,
            // Otherwise a typed letter selects a choice that starts with it: y would select "Yes: order again".
            keybindings: ['vim'],
            style: {
              ...theme.style,
              answer: this.#below(asked, theme.style.answer),
              keysHelpTip: (keys: [string, string][]) =>
                theme.style.keysHelpTip(
                  keys,
                  areAllSeen ? [] : [`${shown.length} choices, not all are shown`],
                ),
            },
          },
        },
      ])
      return answer
    })
    const chosen = choices[index]
    if (chosen === undefined) throw new RangeError('a choice that was not offered')
    return chosen.value
  }

  confirm({
    above = [],
    message,
    initial = false,
    isDestructive = false,
  }: ConfirmQuestion): Promise<boolean> {
    return this.#ask(message, async (context) => {
      for (const line of above) this.#options.output.write(`${this.#laidOut(line)}\n`)
      if (isDestructive) await discardTypedAhead(this.#options.input.stream)
      const { module, theme } = await this.#inquirer(context)
      const { answer } = await module<{ answer: boolean }>([
        {
          type: 'confirm',
          name: 'answer',
          message: this.#question(message, '(y/N)'),
          default: initial,
          theme,
        },
      ])
      return answer
    })
  }

  /** Wrapped between two words, with room for the mark before it and for `after`, which is not broken, behind it. */
  #question(message: string, after = ''): string {
    const text = sanitize(message)
    const width = this.#options.output.columns - 2
    if (after === '') return wrapAnsi(text, width, { hard: true })
    return wrapAnsi(`${text} ${after}`, width, { hard: true }).slice(0, -after.length).replace(/ $/, '')
  }

  /** Wrapped between two words behind the cursor: inquirer breaks lines anywhere. */
  #choice(label: string): string {
    const [first = '', ...more] = wrapAnsi(sanitize(label), this.#options.output.columns - 4, {
      hard: true,
    }).split('\n')
    return [first, ...more.map((line) => `    ${line}`)].join('\n')
  }

  /** A line above a question with its layout; what has no room continues below. */
  #laidOut(line: string): string {
    const text = sanitize(line, { layout: true })
    const [indent = ''] = /^ */.exec(text) ?? []
    const wrapped = wrapAnsi(text.trim(), this.#options.output.columns - indent.length, { hard: true })
    return wrapped === text.trim() ? text : wrapped.replaceAll(/^/gm, indent)
  }

  /** An answer that has no room behind its question is drawn below it. */
  #below(question: string, draw: (answer: string) => string): (answer: string) => string {
    const [last = ''] = question.split('\n').slice(-1)
    const room = this.#options.output.columns - last.length - 3
    return (answer) => (answer.length <= room ? draw(answer) : `\n  ${draw(answer)}`)
  }

  async #inquirer(context: Context) {
    const [{ createPromptModule }, { promptStyle }] = await Promise.all([
      import('inquirer'),
      import('./text-prompt.ts'),
    ])
    return { module: createPromptModule(context), theme: promptStyle(this.#options.color) }
  }

  async #ask<T>(message: string, prompt: (context: Context) => Promise<T>): Promise<T> {
    const { input, output, signal } = this.#options
    // Without a terminal inquirer writes escapes into a pipe and never comes back.
    if (!input.isTTY || !output.isTTY) {
      throw new UsageError(`"${message}" needs an answer, and there is no terminal to ask on`, {
        hint: 'Give the answer as a flag; list the flags with --help.',
      })
    }
    const left = new AbortController()
    const unwatch = onLeaving(input.stream, () => left.abort())
    try {
      return await prompt({
        input: input.stream,
        output: writableOf(output),
        signal: AbortSignal.any([left.signal, ...(signal === undefined ? [] : [signal])]),
      })
    } catch (error) {
      if (!isStoppedByPerson(error)) throw error
      throw new InterruptedError('cancelled; nothing was done', { cause: error })
    } finally {
      unwatch()
    }
  }
}

function sanitizeProblem(check: TextQuestion['check']): (value: string) => string | undefined {
  return (value) => {
    const problem = check?.(value)
    return problem === undefined ? undefined : sanitize(problem)
  }
}

/** inquirer throws these; they are recognised by name, because its classes are in a package of its own. */
function isStoppedByPerson(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)
}

/**
 * Ctrl-D on an empty line, and a terminal that goes away, close readline and leave inquirer waiting for
 * ever. `leave` is called for them; the answer takes the watch off again.
 */
function onLeaving(input: Readable, leave: () => void): () => void {
  const onKey = (_text: unknown, key: { name?: string; ctrl?: boolean } | undefined): void => {
    if (key?.ctrl !== true || key.name !== 'd') return
    // On a line with text Ctrl-D deletes a character, and the input keeps flowing.
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

/** Turns of the event loop after which all that a terminal had in store has been read. */
const turnsToRead = 10

/** Reads away what was typed ahead, which was meant for something else. */
async function discardTypedAhead(input: Readable): Promise<void> {
  const forget = (): void => undefined
  const terminal = input as Readable & { setRawMode?: (isRaw: boolean) => unknown }
  // Line by line, a terminal would keep back what no Enter has ended.
  terminal.setRawMode?.(true)
  input.on('data', forget)
  for (let turn = 0; turn < turnsToRead; turn += 1) await new Promise((done) => void setImmediate(done))
  input.off('data', forget)
  input.pause()
  terminal.setRawMode?.(false)
}

/** A stream for one question; inquirer ends it, the terminal stays. */
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
