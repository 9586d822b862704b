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
import { AlreadyReported, isParseFailure, nameCommand, removeFrame, usageError } from './failures.ts'
import type { BuiltCommand } from './base-command.ts'

export interface MainOptions {
  /** Run src/ as it is instead of the built dist/ and its manifest. */
  fromSource?: boolean
  /** Returns the built command that the arguments name exactly; undefined if oclif has to interpret them. */
  builtCommand?: ((argv: readonly string[]) => BuiltCommand | undefined) | undefined
}

const maxSecretsBytes = 1024 * 1024

/** Runs one command line and returns its exit code; never throws, never exits. `root` is the package's folder. */
export async function main(
  argv: readonly string[],
  context: Context,
  root: URL,
  options: MainOptions = {},
): Promise<number> {
  const program = (line: readonly string[], other: Context): Promise<number> =>
    main(line, other, root, options)
  const secrets = secretsOf(context.env, context.secrets)
  const { stdin, stdout, stderr } = context.streams
  const streams = { stdin, stdout: redactedSink(stdout, secrets), stderr: redactedSink(stderr, secrets) }
  const whole = { ...context, argv, program, secrets, streams }
  return runInContext(whole, async () => {
    const code = await codeOf(argv, whole, root, options)
    await stdout.drain()
    return code === 0 && stdout.failure !== undefined ? reportUnwritten(stdout.failure, argv, whole) : code
  })
}

async function codeOf(
  argv: readonly string[],
  context: Context,
  root: URL,
  options: MainOptions,
): Promise<number> {
  try {
    const pjson = knownPackage(root, options.fromSource === true)
    if (argv.length === 1 && argv[0] === '--version') {
      context.streams.stdout.write(`refcheck ${pjson.version}\n`)
      return 0
    }
    const named = options.builtCommand?.(argv)
    if (named === undefined) await throughOclif(argv, root, pjson, options)
    else await named.command.launch(named.argv, pjson)
    return 0
  } catch (error) {
    await addStoredSecrets(context)
    return report(error, argv, context)
  }
}

/** Reports that the command was carried out, but that its output could not be written to stdout. */
function reportUnwritten(cause: Error, argv: readonly string[], context: Context): number {
  const { message } = diskFailure('write the result to', 'stdout', cause)
  const hint = 'The command itself was carried out; only its output is lost.'
  const failure = new IoError(message, { hint, cause })
  reportFailure(failure, argv, context)
  return exitCodes[failure.code]
}

/** Runs the command line with oclif: topics, help, and the hook for unknown commands. */
async function throughOclif(
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

const configs = new Map<string, Interfaces.Config>()

/** Loads oclif's configuration once per root, as `knownPackage` reads package.json once. */
async function loadConfig(
  root: URL,
  pjson: Interfaces.PJSON,
  options: MainOptions,
): Promise<Interfaces.Config> {
  const known = configs.get(root.href)
  if (known !== undefined && !isRewritten(known)) return known
  const { Config } = await import('@oclif/core/config')
  const config = await Config.load({
    root: fileURLToPath(root),
    pjson,
    ignoreManifest: options.fromSource === true,
    // Plugins that a package.json in the data folder or the working tree names must not be loaded.
    userPlugins: false,
    devPlugins: false,
  })
  configs.set(root.href, config)
  return config
}

/** oclif's help writes spaces into the names of the commands and topics that it shows. */
function isRewritten({ commands, topics }: Interfaces.Config): boolean {
  return [...commands.map(({ id }) => id), ...topics.map(({ name }) => name)].some((name) => / /.test(name))
}

const packages = new Map<string, Interfaces.PJSON>()

/**
 * Reads package.json once. The demo runs further command lines in this process; they must report its version even if
 * an update has replaced the file.
 */
function knownPackage(root: URL, fromSource: boolean): Interfaces.PJSON {
  const known = packages.get(root.href) ?? packageJson(root, fromSource)
  packages.set(root.href, known)
  return known
}

/** The package as oclif is to see it. */
export function packageJson(root: URL, fromSource: boolean): Interfaces.PJSON {
  const pjson = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Interfaces.PJSON
  if (!fromSource) return pjson
  return {
    ...pjson,
    // oclif looks for plugins among these; the build has their commands inside.
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
 * Adds the secrets in credentials.json to those that are redacted, because an error message may repeat what the user
 * typed. Secrets in the keychain are not read.
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
    // An unreadable file, or one of another user, is ignored for the same reason.
  }
}

/** Prints a failure on the stream that src/docs/cli.md ("Streams") defines, and decides the exit code; nothing else does. */
function report(error: unknown, argv: readonly string[], context: Context): number {
  if (error instanceof AlreadyReported) return exitCodes[error.failure.code]
  const exit = plainExit(error)
  if (exit !== undefined) return exit
  const failure = asRefcheckError(error, context)
  nameCommand(failure, { ...context, argv })
  if (hasFlag(argv, '--json')) {
    context.streams.stdout.write(jsonDocument({ error: failureJson(failure) }))
    if (!hasFlag(argv, '--quiet')) reportFailure(failure, argv, context, failureLine)
  } else reportFailure(failure, argv, context)
  return exitCodes[failure.code]
}

function reportFailure(
  failure: RefcheckError,
  argv: readonly string[],
  { env, streams: { stderr } }: Context,
  textOf = failureText,
): void {
  stderr.write(textOf(failure, terminalOf(stderr, env, argv.includes('--no-color'))))
}

/** oclif ends help with an ExitError of code 0. */
function plainExit(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const { oclif } = error as { oclif?: { exit?: number } }
  return oclif?.exit ?? 0
}

function asRefcheckError(error: unknown, context: Context): RefcheckError {
  if (error instanceof RefcheckError) return removeFrame(error)
  if (context.interrupts.isStopped) return interrupted(error)
  if (isParseFailure(error)) return usageError(error)
  if (isOfTheSystem(error)) return diskFailure(error.syscall, error.path, error)
  return internalError(error)
}

/** Wraps an error of an unexpected kind. */
export function internalError(error: unknown): InternalError {
  return new InternalError(`internal error: ${error instanceof Error ? error.message : 'unknown'}`, {
    hint: 'This is a bug in refcheck. Run the same command with --verbose and report what it prints.',
    cause: error,
  })
}

/** A library's own reading or writing that the system refused. */
function isOfTheSystem(error: unknown): error is { syscall: string; path: string } & Error {
  return (
    systemErrorCode(error) !== undefined && error instanceof Error && 'syscall' in error && 'path' in error
  )
}

/** Read from the arguments as they are: a command line that does not parse fails in JSON too. */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).includes(flag)
}
