import type * as Interfaces from '@oclif/core/interfaces'

import { App } from '../app/app.ts'
import { type Context, currentContext } from '../app/context.ts'
import { checkProfileName } from '../domain/session/session.ts'
import { repeatFlagsInJson } from '../domain/wording/pasted-command.ts'
import { type RefcheckError, InterruptedError, UsageError } from '../errors/kinds.ts'
import { failureLine, failureText } from '../output/present.ts'
import type { JqResult } from '../output/jq.ts'
import { jsonText, type ListView, type View } from '../output/view.ts'
import { arrangeColumns, canHaveErrorKey, jsonDocument, presentList, presentText } from '../output/present.ts'
import { type Sink, type Terminal, terminalOf } from '../output/terminal.ts'
import {
  AlreadyReported,
  prepareFailureForOutput,
  addCommandId,
  requireSafeIntegers,
  refuseArgumentsOclifMisreads,
} from './failures.ts'
import { listFormat } from './flags/list.ts'
import { Command, Flags, type ValuesOf } from './oclif.ts'

type FlagsOf<T extends typeof Command> = ValuesOf<(typeof BaseCommand)['baseFlags'] & T['flags']>
type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>

/** The part of a command's class that is needed to launch it. */
export type LaunchableCommand = Pick<typeof BaseCommand, 'args' | 'id'> & {
  launch(argv: string[], pjson: Interfaces.PJSON): Promise<void>
}

/** A command that the arguments name, and the arguments after its name. */
export interface ResolvedCommand {
  command: LaunchableCommand
  argv: string[]
}

/**
 * Base class of all commands. It has the global flags (src/docs/cli.md, "Flags of every command"), the context, the
 * app, and the methods that print results. The `run` of a command reads its flags, calls one use case and prints one
 * view.
 */
export abstract class BaseCommand<T extends typeof Command> extends Command {
  static override baseFlags = {
    json: Flags.boolean({ summary: 'Print one JSON document', helpGroup: 'GLOBAL' }),
    jq: Flags.string({
      summary: 'Print what this jq expression makes of the JSON',
      helpValue: 'EXPR',
      helpGroup: 'GLOBAL',
    }),
    profile: Flags.string({ summary: 'Use this profile', helpValue: 'NAME', helpGroup: 'GLOBAL' }),
    'no-color': Flags.boolean({ summary: 'Print without colours', helpGroup: 'GLOBAL' }),
    quiet: Flags.boolean({ summary: 'Print only the result and errors', helpGroup: 'GLOBAL' }),
    verbose: Flags.boolean({
      summary: 'Print a line for each HTTP exchange, secrets masked',
      helpGroup: 'GLOBAL',
    }),
  }

  /** Runs a command as oclif does, but loads no manifest and no plugins. */
  static async launch(
    this: new (argv: string[], config: Interfaces.Config) => BaseCommand<typeof Command>,
    argv: string[],
    pjson: Interfaces.PJSON,
  ): Promise<void> {
    const command = new this(argv, minimalConfig(pjson))
    try {
      await command.init()
      await command.run()
    } finally {
      await command.finally()
    }
  }

  protected readonly context: Context = currentContext()
  protected flags!: FlagsOf<T>
  protected args!: ArgsOf<T>
  protected app!: App
  #applyJq: ((document: string, isForTerminal?: boolean) => JqResult) | undefined

  override async init(): Promise<void> {
    refuseArgumentsOclifMisreads(this.argv, { ...this.ctor.flags, ...BaseCommand.baseFlags }, this.id)
    const { args, flags } = await this.parse({
      flags: this.ctor.flags,
      baseFlags: BaseCommand.baseFlags,
      args: this.ctor.args,
      strict: this.ctor.strict,
    }).catch((error: unknown) => {
      throw addCommandId(error, this.id)
    })
    requireSafeIntegers(flags, this.id)
    this.flags = flags as FlagsOf<T>
    this.args = args as ArgsOf<T>
    // Checked even if the command uses no profile, since an invalid name is a typing error.
    if (this.flags.profile !== undefined) checkProfileName(this.flags.profile)
    if (this.flags.jq !== undefined) await this.compileJq(this.flags.jq)
    this.app = new App(this.context, {
      version: this.config.version,
      profile: this.flags.profile,
      noColor: this.flags['no-color'],
      quiet: this.flags.quiet,
      verbose: this.flags.verbose,
      timeoutMs: 'timeout' in flags && typeof flags['timeout'] === 'number' ? flags['timeout'] : undefined,
    })
  }

  /**
   * Loads the code of the whole program, because an upgrade may remove files while this command runs. A
   * long-running command calls this before it reports that it is ready.
   */
  protected pinProgramFiles(): void {
    this.context.pinProgramFiles?.()
  }

  /** Rethrows the error, so that `main` prints it and decides the exit code. */
  override async catch(error: Error): Promise<never> {
    throw error
  }

  override async finally(): Promise<void> {
    await this.app?.close()
  }

  /**
   * A signal that Ctrl-C aborts. After the first read of this property, Ctrl-C does not end the process at
   * once.
   */
  protected get signal(): AbortSignal {
    return this.context.interrupts.signal
  }

  /** Throws a UsageError if `condition` is true. */
  protected refuseIf(condition: boolean, message: string, hint: string): void {
    if (condition) throw new UsageError(message, { hint })
  }

  /**
   * Compiles the expression of --jq, which implies --json. An invalid expression is refused before anything is done.
   */
  private async compileJq(expression: string): Promise<void> {
    const conflictingFlag = ['csv', 'columns', 'no-header'].find(
      (name) => name in this.flags && this.flags[name as 'json'],
    )
    this.refuseIf(
      conflictingFlag !== undefined,
      `--jq and --${conflictingFlag ?? ''} cannot be combined`,
      'Choose the fields with --jq.',
    )
    this.flags.json = true
    this.#applyJq = await (await import('../output/jq.ts')).jqFilter(expression)
  }

  /**
   * Asks for confirmation unless `yes` is true. Throws an InterruptedError if the user declines, and a
   * UsageError if there is no terminal.
   */
  protected async confirm(question: string, yes: boolean): Promise<void> {
    if (yes) return
    const prompter = this.app.prompter()
    this.refuseIf(
      prompter === undefined,
      'there is no terminal to confirm on',
      'Nothing was done. Run it again with --yes to skip the confirmation.',
    )
    if (await prompter?.confirm({ message: question, isDestructive: true })) return
    throw new InterruptedError('not confirmed; nothing was done')
  }

  /** Returns the width and colours of stdout, for a view. */
  protected get terminal(): Terminal {
    return this.terminalAt(this.context.streams.stdout)
  }

  protected terminalAt(sink: Sink): Terminal {
    return terminalOf(sink, this.context.env, this.flags['no-color'])
  }

  /**
   * Prints a result, and `summary` on stderr. If there is a failure, prints both the result and the failure
   * and throws AlreadyReported (src/docs/cli.md, "Streams").
   */
  protected answer(view: View, failure?: RefcheckError, summary?: string): void {
    const { stdout } = this.context.streams
    this.prepareOutput(failure)
    const { repeatFlags } = this.app
    if (this.flags.json)
      this.print(
        jsonDocument(
          view.isVerbatim === true ? view.json : repeatFlagsInJson(view.json, repeatFlags),
          failure,
        ),
        failure,
      )
    else presentText(view, stdout, this.terminal, repeatFlags)
    if (summary !== undefined) this.app.note(summary)
    const isInDocument = this.flags.json && canHaveErrorKey(view.json)
    if (failure !== undefined) this.fail(failure, isInDocument)
  }

  /** Prints a document, or the output of --jq for it. If --jq fails, the hint of the error contains the document. */
  private print(document: string, failure?: RefcheckError): void {
    const { stdout, stderr } = this.context.streams
    if (this.#applyJq === undefined) return stdout.write(document)
    // Secrets are redacted before the expression is applied, because it may split them.
    const { text, problem } = this.#applyJq(this.app.secrets.redact(document), stdout.isTTY)
    stdout.write(text)
    if (problem === undefined) return
    const jqError = new UsageError(`--jq: ${problem}`, {
      hint: `The command itself was carried out. Its result:\n${document.trimEnd()}`,
    })
    if (failure === undefined) this.fail(jqError)
    stderr.write(failureText(jqError, this.terminalAt(stderr)))
  }

  /** Prints one document of a stream. With --json, the document is one line. */
  protected answerLine(view: View): void {
    const { stdout } = this.context.streams
    this.app.reporter.clear()
    if (this.flags.json) this.print(`${jsonText(view.json)}\n`)
    else presentText(view, stdout, this.terminal)
  }

  /** Prints a list in the format that `listFlags` choose. */
  protected answerList<Row>(view: ListView<Row>, failure?: RefcheckError): void {
    const { stdout } = this.context.streams
    const format = listFormat(this.flags)
    this.prepareOutput(failure)
    const arranged = arrangeColumns(view, format)
    if (this.flags.json) {
      const rows = arranged.rows.map((row) => (view.json === undefined ? row : view.json(row)))
      this.print(jsonDocument(rows), failure)
    } else {
      presentList(arranged, format, stdout, this.terminal, this.app.repeatFlags)
    }
    if (failure !== undefined) this.fail(failure)
  }

  /** Ends a stream of results with a failure, which is printed only on stderr. Throws AlreadyReported. */
  protected endWithFailure(failure: RefcheckError): never {
    const { stderr } = this.context.streams
    this.prepareOutput(failure)
    stderr.write(failureText(failure, this.terminalAt(stderr)))
    throw new AlreadyReported(failure)
  }

  /** Clears the progress line, and completes and redacts the failure. */
  private prepareOutput(failure: RefcheckError | undefined): void {
    this.app.reporter.clear()
    if (failure !== undefined) prepareFailureForOutput(failure, this.context)
  }

  /**
   * Prints a failure on stderr and throws AlreadyReported. One line is enough if the document on stdout contains the
   * failure.
   */
  private fail(failure: RefcheckError, isInDocument = false): never {
    const { stderr } = this.context.streams
    const isDetailed = !isInDocument || this.#applyJq !== undefined
    if (isDetailed || !this.flags.quiet)
      stderr.write((isDetailed ? failureText : failureLine)(failure, this.terminalAt(stderr)))
    throw new AlreadyReported(failure)
  }
}

export { Args, Flags } from './oclif.ts'

/**
 * Returns the part of oclif's configuration that a command and the parser read. No hooks run before or after a command.
 */
function minimalConfig(pjson: Interfaces.PJSON): Interfaces.Config {
  const config: Pick<Interfaces.Config, 'bin' | 'name' | 'pjson' | 'runHook' | 'version'> = {
    bin: pjson.oclif.bin ?? pjson.name,
    name: pjson.name,
    pjson,
    runHook: async () => ({ successes: [], failures: [] }),
    version: pjson.version,
  }
  return config as Interfaces.Config
}
