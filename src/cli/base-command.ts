import type * as Interfaces from '@oclif/core/interfaces'

import { App } from '../app/app.ts'
import { type Context, currentContext } from '../app/context.ts'
import { checkProfileName } from '../domain/session/session.ts'
import { repeatFlagsInJson } from '../domain/wording/pasted-command.ts'
import { type RefcheckError, InterruptedError, UsageError } from '../errors/kinds.ts'
import { failureLine, failureText } from '../output/present.ts'
import type { JqResult } from '../output/jq.ts'
import { jsonText, type ListView, type View } from '../output/view.ts'
import { arrangeColumns, canHaveError, jsonDocument, presentList, presentText } from '../output/present.ts'
import { type Sink, type Terminal, terminalOf } from '../output/terminal.ts'
import { AlreadyReported, nameCommand, ofCommand, requireCountable, requireWords } from './failures.ts'
import { listFormat } from './flags/list.ts'
import { Command, Flags, type ValuesOf } from './oclif.ts'

type FlagsOf<T extends typeof Command> = ValuesOf<(typeof BaseCommand)['baseFlags'] & T['flags']>
type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>

/** A command's class, as what finds it sees it. */
export type LaunchableCommand = Pick<typeof BaseCommand, 'args' | 'id'> & {
  launch(argv: string[], pjson: Interfaces.PJSON): Promise<void>
}

/** A command that a line names, and what follows the name. */
export interface BuiltCommand {
  command: LaunchableCommand
  argv: string[]
}

/**
 * What every command has: the six flags of the contract, its context and app, and the three
 * ways to answer. A command's `run` is flags → input, one domain call, one view.
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

  /** Runs a command as oclif does, without the reading of manifests and plugins that it does around one. */
  static async launch(
    this: new (argv: string[], config: Interfaces.Config) => BaseCommand<typeof Command>,
    argv: string[],
    pjson: Interfaces.PJSON,
  ): Promise<void> {
    const command = new this(argv, lightConfig(pjson))
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
  #filter: ((document: string, isForTerminal?: boolean) => JqResult) | undefined

  override async init(): Promise<void> {
    requireWords(this.argv, { ...this.ctor.flags, ...BaseCommand.baseFlags }, this.id)
    const { args, flags } = await this.parse({
      flags: this.ctor.flags,
      baseFlags: BaseCommand.baseFlags,
      args: this.ctor.args,
      strict: this.ctor.strict,
    }).catch((error: unknown) => {
      throw ofCommand(error, this.id)
    })
    requireCountable(flags, this.id)
    this.flags = flags as FlagsOf<T>
    this.args = args as ArgsOf<T>
    // Also where no profile is used: a name that is none is a slip.
    if (this.flags.profile !== undefined) checkProfileName(this.flags.profile)
    if (this.flags.jq !== undefined) await this.filterWith(this.flags.jq)
    this.app = new App(this.context, {
      version: this.config.version,
      profile: this.flags.profile,
      noColor: this.flags['no-color'],
      quiet: this.flags.quiet,
      verbose: this.flags.verbose,
      timeoutMs: 'timeout' in flags && typeof flags['timeout'] === 'number' ? flags['timeout'] : undefined,
    })
  }

  /** For a command that runs for long, called before it reports that it is ready: an upgrade meanwhile does not remove its code. */
  protected lasts(): void {
    this.context.pinCode?.()
  }

  /** Failures go to main, which alone decides what they look like and their exit code. */
  override async catch(error: Error): Promise<never> {
    throw error
  }

  override async finally(): Promise<void> {
    await this.app?.close()
  }

  /** Aborted by Ctrl-C. Asking for it makes the process end in order instead of at once. */
  protected get signal(): AbortSignal {
    return this.context.interrupts.signal
  }

  /** Ends with a usage error where `condition` holds. */
  protected refuse(condition: boolean, message: string, hint: string): void {
    if (condition) throw new UsageError(message, { hint })
  }

  /** --jq implies --json. An expression that is no jq is refused before anything is done. */
  private async filterWith(expression: string): Promise<void> {
    const text = ['csv', 'columns', 'no-header'].find(
      (name) => name in this.flags && this.flags[name as 'json'],
    )
    this.refuse(
      text !== undefined,
      `--jq and --${text ?? ''} cannot be combined`,
      'Choose the fields with --jq.',
    )
    this.flags.json = true
    this.#filter = await (await import('../output/jq.ts')).jqFilter(expression)
  }

  /** Goes on after a yes: the flag's, or a person's on a terminal. */
  protected async confirm(question: string, yes: boolean): Promise<void> {
    if (yes) return
    const prompter = this.app.prompter()
    this.refuse(
      prompter === undefined,
      'there is no terminal to confirm on',
      'Nothing was done. Run it again with --yes to skip the confirmation.',
    )
    if (await prompter?.confirm({ message: question, isDestructive: true })) return
    throw new InterruptedError('cancelled; nothing was done')
  }

  /** How stdout looks to a view. */
  protected get terminal(): Terminal {
    return this.terminalAt(this.context.streams.stdout)
  }

  protected terminalAt(sink: Sink): Terminal {
    return terminalOf(sink, this.context.env, this.flags['no-color'])
  }

  /**
   * Prints the answer, and `summary` below it on stderr. With a failure the command answers and fails at once, as the
   * contract says.
   */
  protected answer(view: View, failure?: RefcheckError, summary?: string): void {
    const { stdout } = this.context.streams
    this.beforeAnswer(failure)
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
    if (failure !== undefined) this.fail(failure, this.flags.json && canHaveError(view.json))
  }

  /** A document on stdout, or what --jq makes of it; an answer that --jq stumbles over is not lost. */
  private print(document: string, failure?: RefcheckError): void {
    const { stdout, stderr } = this.context.streams
    if (this.#filter === undefined) return stdout.write(document)
    // An expression may take texts apart.
    const { text, problem } = this.#filter(this.app.secrets.redact(document), stdout.isTTY)
    stdout.write(text)
    if (problem === undefined) return
    const stumbled = new UsageError(`--jq: ${problem}`, {
      hint: `The command itself was carried out. Its result:\n${document.trimEnd()}`,
    })
    if (failure === undefined) this.fail(stumbled)
    stderr.write(failureText(stumbled, this.terminalAt(stderr)))
  }

  /** Prints one document of a stream of them: with --json a single line. */
  protected answerLine(view: View): void {
    const { stdout } = this.context.streams
    this.app.reporter.clear()
    if (this.flags.json) this.print(`${jsonText(view.json)}\n`)
    else presentText(view, stdout, this.terminal)
  }

  /** Prints a list as `listFlags` ask for it. */
  protected answerList<Row>(view: ListView<Row>, failure?: RefcheckError): void {
    const { stdout } = this.context.streams
    const format = listFormat(this.flags)
    this.beforeAnswer(failure)
    const arranged = arrangeColumns(view, format)
    if (this.flags.json) {
      const rows = arranged.rows.map((row) => (view.json === undefined ? row : view.json(row)))
      this.print(jsonDocument(rows), failure)
    } else {
      presentList(arranged, format, stdout, this.terminal, this.app.repeatFlags)
    }
    if (failure !== undefined) this.fail(failure)
  }

  /** Ends a stream of results: the failure is printed on stderr alone. */
  protected end(failure: RefcheckError): never {
    const { stderr } = this.context.streams
    this.beforeAnswer(failure)
    stderr.write(failureText(failure, this.terminalAt(stderr)))
    throw new AlreadyReported(failure)
  }

  private beforeAnswer(failure: RefcheckError | undefined): void {
    this.app.reporter.clear()
    if (failure !== undefined) nameCommand(failure, this.context)
  }

  /** On stderr: one line, or all that the document on stdout does not have. */
  private fail(failure: RefcheckError, isInDocument = false): never {
    const { stderr } = this.context.streams
    const isWhole = !isInDocument || this.#filter !== undefined
    if (isWhole || !this.flags.quiet)
      stderr.write((isWhole ? failureText : failureLine)(failure, this.terminalAt(stderr)))
    throw new AlreadyReported(failure)
  }
}

export { Args, Flags } from './oclif.ts'

/** What a command and the parser read of oclif's configuration; this program has no hooks around commands. */
function lightConfig(pjson: Interfaces.PJSON): Interfaces.Config {
  const config: Pick<Interfaces.Config, 'bin' | 'name' | 'pjson' | 'runHook' | 'version'> = {
    bin: pjson.oclif.bin ?? pjson.name,
    name: pjson.name,
    pjson,
    runHook: async () => ({ successes: [], failures: [] }),
    version: pjson.version,
  }
  return config as Interfaces.Config
}
