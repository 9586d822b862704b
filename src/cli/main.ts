import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type * as Interfaces from '@oclif/core/interfaces'

import { exitCodes, RefcheckError, InternalError, interrupted, IoError } from '../errors/kinds.ts'
import { failureJson, failureLine, failureText, jsonDocument } from '../output/present.ts'
import { redactedSink, terminalOf } from '../output/terminal.ts'
import { diskFailure, systemErrorCode } from '../disk/failure.ts'
import { secretsOf } from '../host/secrets.ts'
import { resolvePaths, withAccountVariables } from '../host/paths.ts'
import { type Context, runInContext } from '../app/context.ts'
import {
  AlreadyReported,
  isParseFailure,
  prepareFailureForOutput,
  removeOclifText,
  toUsageError,
} from './failures.ts'
import type { ResolvedCommand } from './base-command.ts'

export interface MainOptions {
  /** Whether to run src/ instead of the built dist/ and its manifest. */
  fromSource?: boolean
  /** Returns the built command that the arguments name exactly; undefined if oclif has to interpret them. */
  findCommand?: ((argv: readonly string[]) => ResolvedCommand | undefined) | undefined
}

const maxSecretsBytes = 1024 * 1024

/**
 * Runs one command line and returns its exit code. Never throws an error and never ends the process. `root`
 * is the package's folder.
 */
export async function main(
  argv: readonly string[],
  context: Context,
  root: URL,
  options: MainOptions = {},
): Promise<number> {
  const runCommandLine = (otherArgv: readonly string[], otherContext: Context): Promise<number> =>
    main(otherArgv, otherContext, root, options)
  const secrets = secretsOf(context.env, context.secrets)
  const { stdin, stdout, stderr } = context.streams
  const streams = { stdin, stdout: redactedSink(stdout, secrets), stderr: redactedSink(stderr, secrets) }
  const runContext = { ...context, argv, runCommandLine, secrets, streams }
  return runInContext(runContext, async () => {
    const code = await runAndGetExitCode(argv, runContext, root, options)
    await stdout.drain()
    return code === 0 && stdout.failure !== undefined
      ? reportLostOutput(stdout.failure, argv, runContext)
      : code
  })
}

async function runAndGetExitCode(
  argv: readonly string[],
  context: Context,
  root: URL,
  options: MainOptions,
): Promise<number> {
  try {
    const pjson = readPackageOnce(root, options.fromSource === true)
    if (argv.length === 1 && argv[0] === '--version') {
      context.streams.stdout.write(`refcheck ${pjson.version}\n`)
      return 0
    }
    const resolvedCommand = options.findCommand?.(argv)
    if (resolvedCommand === undefined) await runWithOclif(argv, root, pjson, options)
    else await resolvedCommand.command.launch(resolvedCommand.argv, pjson)
    return 0
  } catch (error) {
    await addStoredSecrets(context)
    return reportError(error, argv, context)
  }
}

/** Reports that the command was carried out, but that its output could not be written to stdout. */
function reportLostOutput(cause: Error, argv: readonly string[], context: Context): number {
  const { message } = diskFailure('write the result to', 'stdout', cause)
  const hint = 'The command itself was carried out; only its output is lost.'
  const failure = new IoError(message, { hint, cause })
  printFailure(failure, argv, context)
  return exitCodes[failure.code]
}

/** Runs the command line with oclif: topics, help, and the hook for unknown commands. */
async function runWithOclif(
  argv: readonly string[],
  root: URL,
  pjson: Interfaces.PJSON,
  options: MainOptions,
): Promise<void> {
  const [{ run }, { settings }] = await Promise.all([
    import('@oclif/core/run'),
    import('@oclif/core/settings'),
  ])
  settings.enableAutoTranspile = false
  await withAccountVariables(async () => run([...argv], await loadConfig(root, pjson, options)))
}

interface LoadedConfig {
  config: Interfaces.Config
  /** Restores the names of commands and topics, into which oclif's help writes spaces when it shows them. */
  restoreNames: () => void
}

const configByRoot = new Map<string, LoadedConfig>()

/** Loads oclif's configuration once per root, as `readPackageOnce` reads package.json once. */
async function loadConfig(
  root: URL,
  pjson: Interfaces.PJSON,
  options: MainOptions,
): Promise<Interfaces.Config> {
  const loadedConfig = configByRoot.get(root.href)
  if (loadedConfig !== undefined) {
    loadedConfig.restoreNames()
    return loadedConfig.config
  }
  const { Config } = await import('@oclif/core/config')
  const config = await Config.load({
    root: fileURLToPath(root),
    pjson,
    ignoreManifest: options.fromSource === true,
    // Plugins that a package.json in the data folder or the working tree names must not be loaded.
    userPlugins: false,
    devPlugins: false,
  })
  const ids = config.commands.map((command) => ({ command, id: command.id }))
  const names = config.topics.map((topic) => ({ topic, name: topic.name }))
  const restoreNames = (): void => {
    for (const { command, id } of ids) command.id = id
    for (const { topic, name } of names) topic.name = name
  }
  configByRoot.set(root.href, { config, restoreNames })
  return config
}

const packageByRoot = new Map<string, Interfaces.PJSON>()

/**
 * Reads package.json once. The demo runs further command lines in this process. They must report its version
 * even if an update has replaced the file.
 */
function readPackageOnce(root: URL, fromSource: boolean): Interfaces.PJSON {
  const pjson = packageByRoot.get(root.href) ?? readPackageJson(root, fromSource)
  packageByRoot.set(root.href, pjson)
  return pjson
}

/**
 * Reads package.json. If `fromSource` is true, its settings for oclif name the sources instead of the built
 * files.
 */
export function readPackageJson(root: URL, fromSource: boolean): Interfaces.PJSON {
  const pjson = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Interfaces.PJSON
  if (!fromSource) return pjson
  return {
    ...pjson,
    // oclif loads only plugins that are dependencies. The build contains the plugin's commands.
    dependencies: { ...pjson.dependencies, ...pjson.devDependencies },
    oclif: {
      ...pjson.oclif,
      plugins: ['@oclif/plugin-help'],
      commands: './src/commands',
      helpClass: './src/cli/help.ts',
      hooks: { command_not_found: './src/cli/command-not-found.ts' },
    },
  }
}

/**
 * Adds the secrets in credentials.json to the redacted secrets, because an error message may repeat what the
 * user typed. Secrets in the keychain are not read.
 */
async function addStoredSecrets({ env, secrets }: Context): Promise<void> {
  try {
    const { readOwn } = await import('../disk/private-modes.ts')
    const text = readOwn(join(resolvePaths(env).config, 'credentials.json'), maxSecretsBytes)
    // Adds every `value` of the file; Secrets.add ignores short ones. The shape of the file is not checked here: a
    // damaged file must not replace the error that is being reported.
    JSON.parse(text ?? '{}', (name, value: unknown) => {
      if (name === 'value' && typeof value === 'string') secrets?.add('secret', value)
    })
  } catch {
    // A file that is unreadable or belongs to another user is ignored for the same reason.
  }
}

/** Prints an error on the stream that src/docs/cli.md ("Streams") defines, and returns the exit code. */
function reportError(error: unknown, argv: readonly string[], context: Context): number {
  if (error instanceof AlreadyReported) return exitCodes[error.failure.code]
  const exitCode = oclifExitCode(error)
  if (exitCode !== undefined) return exitCode
  const failure = asRefcheckError(error, context)
  prepareFailureForOutput(failure, { ...context, argv })
  if (hasFlag(argv, '--json')) {
    context.streams.stdout.write(jsonDocument({ error: failureJson(failure) }))
    if (!hasFlag(argv, '--quiet')) printFailure(failure, argv, context, failureLine)
  } else printFailure(failure, argv, context)
  return exitCodes[failure.code]
}

function printFailure(
  failure: RefcheckError,
  argv: readonly string[],
  { env, streams: { stderr } }: Context,
  formatFailure = failureText,
): void {
  stderr.write(formatFailure(failure, terminalOf(stderr, env, argv.includes('--no-color'))))
}

/** Returns the exit code of oclif's ExitError, with which oclif ends help; undefined for any other error. */
function oclifExitCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const { oclif } = error as { oclif?: { exit?: number } }
  return oclif?.exit ?? 0
}

function asRefcheckError(error: unknown, context: Context): RefcheckError {
  if (error instanceof RefcheckError) return removeOclifText(error)
  if (context.interrupts.isStopped) return interrupted(error)
  if (isParseFailure(error)) return toUsageError(error)
  if (isSystemCallError(error)) return diskFailure(error.syscall, error.path, error)
  return internalError(error)
}

/** Returns the error for a failure of an unexpected kind. */
export function internalError(error: unknown): InternalError {
  return new InternalError(`internal error: ${error instanceof Error ? error.message : 'unknown'}`, {
    hint: 'This is a bug in refcheck. Run the same command with --verbose and report what it prints.',
    cause: error,
  })
}

/** Returns true if an error is a failed system call of a library, such as a read or write. */
function isSystemCallError(error: unknown): error is { syscall: string; path: string } & Error {
  return (
    systemErrorCode(error) !== undefined && error instanceof Error && 'syscall' in error && 'path' in error
  )
}

/**
 * Returns true if the arguments contain a flag. The arguments are not parsed, so that --json also works for
 * invalid arguments.
 */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const endOfFlags = argv.indexOf('--')
  return argv.slice(0, endOfFlags === -1 ? argv.length : endOfFlags).includes(flag)
}
