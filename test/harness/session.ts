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

/** The text of a terminal. A snapshot contains it without quotes. */
export class Screen {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

expect.addSnapshotSerializer({
  test: (value) => value instanceof Screen,
  serialize: (value: Screen) => value.text,
})

/**
 * One command line and its output: stdout unchanged, `2> ` before each line of stderr, `? ` before a
 * question.
 */
export class Step extends Screen implements Outcome {
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

export interface TypeOptions extends Omit<RunOptions, 'prompter'> {
  /** Answers to questions, in sequence. An answer without a question fails the test. */
  answers?: readonly Answer[] | undefined
  /** Variables that were exported in the shell before, so that the line does not show them. */
  exported?: Record<string, string> | undefined
}

export interface Session extends World {
  clock: ManualClock
  /** Types one command line; words with spaces in quotes, or a list of words. */
  type: (line: string | readonly string[], options?: TypeOptions) => Promise<Step>
  /** Several command lines, one after the other, on one screen. */
  all: (lines: readonly (string | readonly string[])[], options?: TypeOptions) => Promise<Screen>
  /** Writes a file into the session's folder; its name. */
  write: (name: string, content: string | Uint8Array) => string
  /** The content of a file, as `cat` shows it. */
  cat: (name: string) => Screen
  /** The exact text of a file. */
  read: (name: string) => string
  /** Calls that the service received, such as `GET /v1/users 200`. */
  calls: () => string[]
}

export interface SessionOptions extends Partial<Omit<SandboxOptions, 'clock'>> {
  /** By default one whose sleeps end at once. */
  clock?: ManualClock | undefined
  /** The engine of the store; by default a file in the session's folder. */
  store?: 'SQLite' | 'PostgreSQL' | undefined
  /** The environment has only folders: no address, no key. */
  newcomer?: boolean | undefined
  /** Further text that varies: patterns and the names that replace them. */
  filters?: readonly Filter[] | undefined
}

/**
 * A person at a terminal, with a sandbox of a fixed seed, on a clock that needs no real time. Ids, folders
 * and ports have names on the screen; the same id keeps its name.
 */
export async function session(options: SessionOptions = {}): Promise<Session> {
  const {
    newcomer = false,
    filters = [],
    store,
    // The times of orders are the database's, so the machine and the service are given the same day.
    clock = new ManualClock({ auto: true, ...(store === 'PostgreSQL' && { now: Date.now() }) }),
    ...sandbox
  } = options
  const here = await world({ clock, seed: 'session', ...sandbox })
  if (store === 'PostgreSQL') here.env['REFCHECK_STORE'] = await createTestStore()
  const names = new Names(here, filters, store === 'PostgreSQL' ? clock.now() : undefined)
  const fraction = seeded(1)
  const uuid = (): string => {
    const drawn = systemRandom.uuid()
    names.drawnIds.add(drawn)
    return drawn
  }
  const random = { ...systemRandom, fraction, uuid }
  const start = here.sandbox.log.entries().length

  const run = (argv: readonly string[], more: RunOptions): Promise<Outcome> =>
    newcomer
      ? refcheck(argv, { cwd: here.folder, ...more, env: { ...emptyEnv(here.folder), ...more.env } })
      : here.run(argv, more)

  const type: Session['type'] = async (line, { answers, exported, ...more } = {}) => {
    const argv = typeof line === 'string' ? wordsOf(line) : line
    const shown = typeof line === 'string' ? line : line.map(quoted).join(' ')
    const drawn = new Drawing()
    const prompter =
      answers === undefined ? undefined : new ScriptedPrompter(answers, (text) => drawn.add('? ', text))
    const outcome = await run(argv, {
      clock,
      random,
      ...more,
      env: { ...exported, ...more.env },
      prompter,
      onWrite(stream, text) {
        drawn.add(stream === 'stderr' ? '2> ' : '', text)
        more.onWrite?.(stream, text)
      },
    })
    prompter?.finish()
    const left = more.signal?.aborted === true ? '^C\n' : ''
    const text = `${typed(shown, more)}\n${drawn.text()}${left}exit ${outcome.code}`
    return new Step(names.replaceNames(text, shown), outcome)
  }

  return {
    ...here,
    clock,
    type,
    async all(lines, more) {
      const screens: string[] = []
      for (const line of lines) screens.push((await type(line, more)).text)
      return new Screen(screens.join('\n\n'))
    },
    write(name, content) {
      writeFileSync(join(here.folder, name), content)
      return name
    },
    cat: (name) =>
      new Screen(
        names.replaceNames(`$ cat ${name}\n${readFileSync(join(here.folder, name), 'utf8').trimEnd()}`),
      ),
    read: (name) => readFileSync(join(here.folder, name), 'utf8'),
    calls: () =>
      here.sandbox.log
        .entries()
        .slice(start)
        .flatMap((entry) =>
          entry.kind === 'call'
            ? [names.replaceNames(`${entry.method} ${entry.path} ${entry.status ?? entry.fault}`)]
            : [],
        ),
  }
}

/** The command line with what was set and piped, as a shell takes it. */
function typed(line: string, { env = {}, stdin }: TypeOptions): string {
  const set = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)} `)
  const here =
    typeof stdin === 'string' ? ` <<EOF\n${stdin.trimEnd()}\nEOF` : stdin === undefined ? '' : ' < BYTES'
  return `$ ${set.join('')}refcheck ${line}${here}`
}

const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"/g,
      (_, single: string | undefined, double: string) => single ?? double,
    ),
  )

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`

/** Everything written, in its order. */
class Drawing {
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
        const whole = text.endsWith('\n') ? text : `${text}${mark === '? ' ? '' : ' (no newline)'}\n`
        return whole.replaceAll(/^(?=.|\n)/gm, mark).replaceAll(/ +$/gm, '')
      })
      .join('')
  }
}
