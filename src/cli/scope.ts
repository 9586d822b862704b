import { resolve } from 'node:path'

import { type Keep, keeping } from '../domain/wording/kept-flags.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import { UsageError } from '../errors/kinds.ts'
import { secretsOf } from '../host/environment-secrets.ts'
import { NoHomeError, type Paths, RelativeFolderError, resolvePaths } from '../host/paths.ts'
import type { Secrets } from '../host/secrets.ts'
import { Progress } from '../output/progress.ts'
import { Reporter } from '../output/reporter.ts'
import { terminalOf } from '../output/terminal.ts'
import type { Prompter } from '../prompt/prompter.ts'
import { TerminalPrompter } from '../prompt/terminal.ts'
import type { Context } from './context.ts'

export interface ScopeOptions {
  version: string
  profile: string | undefined
  noColor: boolean
  quiet: boolean
  verbose: boolean
  /** Milliseconds, from --timeout. */
  timeoutMs: number | undefined
}

type Close = () => Promise<void> | void

/** One command's lifetime: what is made in it is made once, when it is first asked for, and closed with it. */
export class Scope {
  readonly context: Context
  readonly options: ScopeOptions
  readonly reporter: Reporter
  /** What is printed and stored nowhere. */
  readonly secrets: Secrets
  /** What a command that is told as the next one repeats of what was typed. */
  readonly keep: Keep
  readonly #made = new Map<unknown, unknown>()
  readonly #settlers: Close[] = []
  readonly #closers: Close[] = []
  #isClosing = false
  #paths: Paths | undefined

  constructor(context: Context, options: ScopeOptions) {
    this.context = context
    this.options = options
    this.secrets = context.secrets ?? secretsOf(context.env)
    const { stderr } = context.streams
    this.keep = keeping(context.argv ?? [])
    const terminal = terminalOf(stderr, context.env, options.noColor)
    this.reporter = new Reporter(stderr, terminal, options.quiet, this.keep)
  }

  /** Throws a UsageError where neither the environment nor the account says where they are, or by a relative path. */
  get paths(): Paths {
    try {
      return (this.#paths ??= resolvePaths(this.context.env))
    } catch (cause) {
      if (cause instanceof RelativeFolderError) {
        const { variable: name, path } = cause
        throw new UsageError(`${name} is not an absolute path: "${path}"`, {
          hint: `Nothing was sent. Set it with: export ${name}=${shellWord(resolve(this.context.cwd, path))}`,
          cause,
        })
      }
      if (!(cause instanceof NoHomeError)) throw cause
      throw new UsageError(
        'this account has no home folder, so there is no place for settings and the store',
        {
          hint: 'Set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR to folders on a volume that lasts.',
          cause,
        },
      )
    }
  }

  /** What `make` makes, the same at every call. */
  made<T>(make: (scope: Scope) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this))
    return this.#made.get(make) as T
  }

  /** Uses what another scope makes, which closes it too. */
  share(from: Scope, make: (scope: Scope) => unknown): void {
    this.#made.set(make, from.made(make))
  }

  /** Done at the end, while all that was made is still open. */
  onSettle(settle: Close): void {
    this.#settlers.push(settle)
  }

  /** Done at the very end, what was made last first. */
  onClose(close: Close): void {
    this.#closers.push(close)
  }

  /** Whether the answer is out, so that nothing more is worth a wait. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  async close(): Promise<void> {
    this.reporter.done()
    this.#isClosing = true
    for (const settle of this.#settlers.splice(0)) await settle()
    for (const close of this.#closers.splice(0).reverse()) await close()
  }

  /** A line that stays, on stderr. */
  readonly note = (text: string): void => this.reporter.note(text)

  /** A line for how far a long job has come. */
  progress(): Progress {
    return new Progress(this.reporter, this.context.clock)
  }

  /** Undefined where nobody can be asked. */
  prompter(): Prompter | undefined {
    const { prompter, streams, interrupts } = this.context
    if (prompter !== undefined) return prompter
    const { stdin, stderr } = streams
    if (!stdin.isTTY || !stderr.isTTY) return undefined
    const color = this.reporter.terminal.color
    return new TerminalPrompter({ input: stdin, output: stderr, color, signal: interrupts.signal })
  }
}

/** A part that a scope makes at most once. */
export function once<T>(make: (scope: Scope) => T): (scope: Scope) => T {
  return (scope) => scope.made(make)
}
