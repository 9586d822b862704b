import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Context } from './context.ts'
import { isLoopbackUrl } from '../contract/url.ts'
import { parseBaseUrl } from '../domain/session/session.ts'
import { variable, processId } from '../host/process.ts'
import type { RunningSandbox } from '../sandbox/control/client.ts'
import type { SandboxServices } from '../usecases/sandbox/start.ts'
import type { App } from './app.ts'
import { InternalError, InterruptedError, UsageError } from '../errors/kinds.ts'
import { type Sink, type Streams, styled, type Terminal, wrapLines } from '../output/terminal.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import type { DemoEvent, DemoServices, DemoRun } from '../usecases/demo/run.ts'

/**
 * Connects to a sandbox in another process: the one at `baseUrl` (the value of a flag), or else that of the profile.
 */
export async function connectToRunningSandbox(
  app: App,
  baseUrl: string | undefined,
): Promise<RunningSandbox> {
  const { connectToSandbox: connect } = await import('../sandbox/control/client.ts')
  // Loaded only here, since lists of scenarios and stories need no session.
  const { resolveBaseUrl } = await import('../usecases/session/resolve.ts')
  const sandboxUrl =
    baseUrl === undefined
      ? await resolveBaseUrl(await app.services('settings', 'env', 'profile'))
      : parseBaseUrl(baseUrl, '--base-url')
  return connect(await app.service('http'), sandboxUrl, controlToken(app.context))
}

/** Returns the token for controlling a sandbox on another machine; undefined if the environment has none. */
export const controlToken = ({ env }: Pick<Context, 'env'>): string | undefined =>
  variable(env, 'REFCHECK_SANDBOX_TOKEN')

/**
 * Reads the state of a sandbox. Its own keys and secrets are not redacted in the output, because a restored sandbox
 * without them would refuse its users.
 */
export async function readSnapshot(app: App, sandbox: RunningSandbox): Promise<unknown> {
  const { parseSnapshot } = await import('../sandbox/service/schemas.ts')
  const snapshot = await sandbox.read('snapshot')
  const { keys, organisations } = parseSnapshot(snapshot)
  for (const { key } of keys) app.secrets.reveal(key)
  for (const { webhook_secret: secret } of organisations) app.secrets.reveal(secret)
  return snapshot
}

/** Returns the services for a sandbox in this process. */
export async function createSandboxServices({ clock, random }: Context): Promise<SandboxServices> {
  const { listen } = await import('../server/listen.ts')
  return {
    clock,
    random,
    listen,
    // Loaded only for stored state, because the lock of the file makes the start slower.
    async openData(path) {
      const { openJournal } = await import('../sandbox/service/journal.ts')
      return openJournal(path, { clock, random, pid: processId() })
    },
  }
}

export { parseJson } from '../contract/parse-json.ts'

/** Returns the scenarios that can be injected into a sandbox. */
export async function sandboxScenarios() {
  return (await import('../sandbox/service/scenarios.ts')).scenarioTable
}

/**
 * Returns the stories of `sandbox trigger`: each is a course of one request and the order in which its events are
 * sent.
 */
export async function sandboxStories() {
  return (await import('../sandbox/service/stories.ts')).storyTable
}

/** The profile of `sandbox start --login` without --profile. */
export const sandboxProfile = 'sandbox'

/**
 * Checks whether `sandbox start --login` may save its key as the profile `profileName` (the value of --profile, by
 * default "sandbox"). The key of another service is never overwritten. The key of another sandbox is overwritten only
 * if the user agrees; in the default profile it is overwritten without a question, and a note says so. Throws a
 * UsageError or InterruptedError if the profile stays as it is.
 */
export async function requireSandboxProfile(
  app: App,
  { profileName, port, json }: { profileName: string | undefined; port: number; json: boolean },
): Promise<void> {
  const name = profileName ?? sandboxProfile
  const storedProfile = await (await app.service('settings')).profile(name)
  if (storedProfile === undefined) return
  const hint = 'Choose another name: refcheck sandbox start --login --profile NAME'
  const { baseUrl, userEmail } = storedProfile
  if (!isLoopbackUrl(baseUrl))
    throw new UsageError(`profile "${name}" is of ${baseUrl}, and is kept`, { hint })
  if (new URL(baseUrl).port === String(port)) return
  if (profileName === undefined) {
    app.note(`The profile "${name}" is replaced; it was of ${baseUrl}.`)
    return
  }
  const prompter = json ? undefined : app.prompter()
  if (prompter === undefined)
    throw new UsageError(`profile "${name}" is of another sandbox, ${baseUrl}, and is kept`, { hint })
  const message = `Profile "${name}" is of ${userEmail} at ${baseUrl}. Replace it, with its key, by this sandbox?`
  if (!(await prompter.confirm({ message, isDestructive: true })))
    throw new InterruptedError(`cancelled; the profile "${name}" is as it was`)
}

/** Returns the default rules of a sandbox, which decide what the API document leaves open. */
export async function defaultSandboxRules() {
  const { listRuleSettings, listDefaultRules } = await import('../sandbox/service/rules.ts')
  return listRuleSettings(listDefaultRules())
}

/** Returns the OpenAPI document of the service. `control`: whether it includes the control interface of a sandbox. */
export async function openApiDocument(baseUrl: string, version: '3.1' | '3.0', control: boolean) {
  const { openApi, toOpenApi30 } = await import('../contract/openapi.ts')
  const document = control
    ? (await import('../sandbox/control/openapi.ts')).sandboxOpenApi(baseUrl)
    : openApi(baseUrl)
  return version === '3.1' ? document : toOpenApi30(document)
}

interface DemoOptions {
  sink: Sink
  terminal: Terminal
  output: string | undefined
  /** The exit code of a command that was interrupted. */
  interruptedCode: number
}

/** Returns the services for a demo. It runs in a new folder, and its transcript is written to `sink`. */
export async function createDemoServices(
  context: Context,
  { sink, terminal, output, interruptedCode }: DemoOptions,
): Promise<DemoServices> {
  const home = await mkdtemp(join(tmpdir(), 'refcheck-demo-'))
  return {
    sandbox: await createSandboxServices(context),
    home,
    output,
    onEvent: (event) => sink.write(formatTranscript(event, terminal)),
    async run(argv, env): Promise<DemoRun> {
      const printed: string[] = []
      if (context.runCommandLine === undefined)
        throw new InternalError('no program to run command lines with')
      const code = await context.runCommandLine(argv, {
        ...context,
        cwd: home,
        streams: teeStreams(context.streams, sink, printed),
        env: { ...context.env, ...env },
      })
      if (code === interruptedCode) throw new InterruptedError('the demo was interrupted')
      return { code, printed: printed.join('') }
    },
  }
}

function formatTranscript(event: DemoEvent, terminal: Terminal): string {
  if (event.name === 'command') {
    return `\n${styled(terminal, 'bold', `$ refcheck ${event.argv.map(shellWord).join(' ')}`)}\n`
  }
  const { columns } = terminal
  const text = wrapLines(event.text, columns === undefined ? undefined : columns - '# '.length)
  const lines = text.split('\n').map((line) => styled(terminal, 'cyan', line === '' ? '' : `# ${line}`))
  return `\n${lines.join('\n')}\n`
}

/** Returns streams that write stdout and stderr of a command to one transcript, and to `printed`. */
function teeStreams(streams: Streams, sink: Sink, printed: string[]): Streams {
  const transcriptSink: Sink = {
    write(data) {
      printed.push(Buffer.from(data).toString('utf8'))
      sink.write(data)
    },
    drain: () => sink.drain(),
    isTTY: sink.isTTY,
    columns: sink.columns,
  }
  return { stdin: streams.stdin, stdout: transcriptSink, stderr: transcriptSink }
}
