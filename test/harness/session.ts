import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import { systemRandom } from '../../src/host/random.ts'
import type { SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import type { Filter } from './filters.ts'
import { seeded } from './seeded-random.ts'
import { ManualClock } from './manual-clock.ts'
import { createTestStore } from './postgres-store.ts'
import { Names } from './names.ts'
import { type Outcome, refcheck, type RunOptions } from './run-command.ts'
import { type Answer, ScriptedPrompter } from './scripted-prompter.ts'
import { emptyEnv, type World, world } from './world.ts'

/** Text that a snapshot contains without quotes. */
export class SnapshotText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

expect.addSnapshotSerializer({
  test: (value) => value instanceof SnapshotText,
  serialize: (value: SnapshotText) => value.text,
})

/**
 * One command line and its output: stdout unchanged, `2> ` before each line of stderr, `? ` before a
 * question.
 */
export class Step extends SnapshotText implements Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly bytes: Buffer
  readonly json: () => unknown

  constructor(text: string, outcome: Outcome) {
    super(text)
    this.code = outcome.code
    this.stdout = outcome.stdout
    this.stderr = outcome.stderr
    this.bytes = outcome.bytes
    this.json = outcome.json
  }
}

export interface TypingOptions extends Omit<RunOptions, 'prompter'> {
  /** Answers to questions, in sequence. An answer without a question fails the test. */
  answers?: readonly Answer[] | undefined
  /** Variables that were exported in the shell before, so that the line does not show them. */
  exported?: Record<string, string> | undefined
}

export interface Session extends World {
  clock: ManualClock
  /** Types one command line: a text in which words with spaces have quotes, or a list of words. */
  type: (line: string | readonly string[], options?: TypingOptions) => Promise<Step>
  /** Types several command lines, one after the other. Returns all of their output as one screen. */
  all: (lines: readonly (string | readonly string[])[], options?: TypingOptions) => Promise<SnapshotText>
  /** Writes a file into the session's folder. Returns its name. */
  write: (name: string, content: string | Uint8Array) => string
  /** The content of a file, as `cat` shows it. */
  cat: (name: string) => SnapshotText
  /** The exact text of a file. */
  read: (name: string) => string
  /** Returns the calls that the service received, such as `GET /v1/users 200`. */
  listCalls: () => string[]
}

export interface SessionOptions extends Partial<Omit<SandboxOptions, 'clock'>> {
  /** By default a clock whose sleeps end at once. */
  clock?: ManualClock | undefined
  /** The engine of the store; by default a file in the session's folder. */
  store?: 'SQLite' | 'PostgreSQL' | undefined
  /** Whether the environment has no address and no key of the service, but only the folders. */
  isLoggedOut?: boolean | undefined
  /** Further text that varies: patterns and the names that replace them. */
  filters?: readonly Filter[] | undefined
}

/**
 * Starts the session of a user at a terminal, with a sandbox of a fixed seed and a clock that needs no real time.
 * On the screen, names replace ids, folders and ports; an id has the same name in the whole session.
 */
export async function session(options: SessionOptions = {}): Promise<Session> {
  const {
    isLoggedOut = false,
    filters = [],
    store,
    // PostgreSQL sets the times of orders from its own clock, so the other clocks start at the same time.
    clock = new ManualClock({ auto: true, ...(store === 'PostgreSQL' && { now: Date.now() }) }),
    ...sandbox
  } = options
  const here = await world({ clock, seed: 'session', ...sandbox })
  if (store === 'PostgreSQL') here.env['REFCHECK_STORE'] = await createTestStore()
  const names = new Names(here, filters, store === 'PostgreSQL' ? clock.now() : undefined)
  const fraction = seeded(1)
  const uuid = (): string => {
    const id = systemRandom.uuid()
    names.generatedIds.add(id)
    return id
  }
  const random = { ...systemRandom, fraction, uuid }
  const callCountBefore = here.sandbox.log.entries().length

  const run = (argv: readonly string[], more: RunOptions): Promise<Outcome> =>
    isLoggedOut
      ? refcheck(argv, { cwd: here.folder, ...more, env: { ...emptyEnv(here.folder), ...more.env } })
      : here.run(argv, more)

  const type: Session['type'] = async (line, { answers, exported, ...more } = {}) => {
    const argv = typeof line === 'string' ? splitWords(line) : line
    const shownLine = typeof line === 'string' ? line : line.map(quote).join(' ')
    const output = new CollectedOutput()
    const prompter =
      answers === undefined ? undefined : new ScriptedPrompter(answers, (text) => output.add('? ', text))
    const outcome = await run(argv, {
      clock,
      random,
      ...more,
      env: { ...exported, ...more.env },
      prompter,
      onWrite(stream, text) {
        output.add(stream === 'stderr' ? '2> ' : '', text)
        more.onWrite?.(stream, text)
      },
    })
    prompter?.finish()
    const interrupt = more.signal?.aborted === true ? '^C\n' : ''
    const text = `${shellLine(shownLine, more)}\n${output.text()}${interrupt}exit ${outcome.code}`
    return new Step(names.replaceNames(text, shownLine), outcome)
  }

  return {
    ...here,
    clock,
    type,
    async all(lines, more) {
      const screens: string[] = []
      for (const line of lines) screens.push((await type(line, more)).text)
      return new SnapshotText(screens.join('\n\n'))
    },
    write(name, content) {
      writeFileSync(join(here.folder, name), content)
      return name
    },
    cat: (name) =>
      new SnapshotText(
        names.replaceNames(`$ cat ${name}\n${readFileSync(join(here.folder, name), 'utf8').trimEnd()}`),
      ),
    read: (name) => readFileSync(join(here.folder, name), 'utf8'),
    listCalls: () =>
      here.sandbox.log
        .entries()
        .slice(callCountBefore)
        .flatMap((entry) =>
          entry.kind === 'call'
            ? [names.replaceNames(`${entry.method} ${entry.path} ${entry.status ?? entry.fault}`)]
            : [],
        ),
  }
}

/** Returns a command line as it is typed in a shell, with its variables and its standard input. */
function shellLine(line: string, { env = {}, stdin }: TypingOptions): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quote(value)} `)
  const input =
    typeof stdin === 'string' ? ` <<EOF\n${stdin.trimEnd()}\nEOF` : stdin === undefined ? '' : ' < BYTES'
  return `$ ${variables.join('')}refcheck ${line}${input}`
}

const splitWords = (line: string): string[] =>
  (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"/g,
      (_, single: string | undefined, double: string) => single ?? double,
    ),
  )

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`

/** Collects questions and the output of both streams, in the order of writing. */
class CollectedOutput {
  readonly #parts: { mark: string; text: string }[] = []

  add(mark: string, text: string): void {
    const last = this.#parts.at(-1)
    if (last?.mark === mark) last.text += text
    else this.#parts.push({ mark, text })
  }

  text(): string {
    return this.#parts
      .filter(({ text }) => text !== '')
      .map(({ mark, text }) => {
        const completeText = text.endsWith('\n') ? text : `${text}${mark === '? ' ? '' : ' (no newline)'}\n`
        return completeText.replaceAll(/^(?=.|\n)/gm, mark).replaceAll(/ +$/gm, '')
      })
      .join('')
  }
}
