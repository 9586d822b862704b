import { Readable, Writable } from 'node:stream'
import { callbackify } from 'node:util'

import type { App } from './app.ts'
import { requireReadOnly } from '../domain/agent/calls.ts'
import { InternalError } from '../errors/kinds.ts'
import { agentVariable } from '../host/process.ts'
import type { AgentServices } from '../mcp/tools.ts'
import type { Sink } from '../output/terminal.ts'
import { ConcurrencyLimit, type RunReadOnly } from '../usecases/agent/calls.ts'
import { planOwner } from './approval.ts'

/** What a person allowed an agent when they started its server. */
export interface AgentAllowances {
  /** Absolute folders. */
  files: string | undefined
  reports: string | undefined
  showsPersonalData: boolean
}

/** Answers a client on the standard streams until it goes away or `signal` is aborted. */
export async function serveAgents(app: App, allowances: AgentAllowances, signal: AbortSignal): Promise<void> {
  const { serveAgent } = await import('../mcp/server.ts')
  // An agent gets no message about a key, whether or not a call has needed it yet.
  await app.service('session').catch(() => undefined)
  const { stream: input } = app.context.streams.stdin
  await serveAgent(agentServices(app, allowances), { input, output: outputStream(app), signal })
}

function agentServices(app: App, allowances: AgentAllowances): AgentServices {
  const { clock, random } = app.context
  return {
    ...allowances,
    version: app.options.version,
    run: runReading(app),
    redact: (text) => app.secrets.redact(text),
    plans: () => app.service('plans'),
    planning: async () => ({
      ...(await app.services('plans', 'clock', 'random', 'packageNames')),
      owner: await planOwner(app),
    }),
    now: () => clock.now(),
    mark: () => random.bytes(8).toString('hex'),
  }
}

/** Standard output as a stream. */
function outputStream({ context: { streams } }: App): Writable {
  const { stdout } = streams
  const drained = callbackify(async () => stdout.drained())
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      stdout.write(chunk)
      drained(done)
    },
  })
}

/** Runs lines of this program without a terminal, with their children marked as an agent's. */
function runReading(app: App): RunReadOnly {
  const { context, options } = app
  const limit = new ConcurrencyLimit()
  const profile = options.profile === undefined ? [] : [`--profile=${options.profile}`]
  return async (argv, { stdin, signal, onNote }) => {
    const { program } = context
    if (program === undefined) throw new InternalError('no program to run command lines with')
    requireReadOnly(argv)
    const either = AbortSignal.any([signal, context.interrupts.signal])
    return limit.run(either, async () => {
      const printed: string[] = []
      const code = await program([...argv, '--json', ...profile], {
        ...context,
        env: { ...context.env, [agentVariable]: '1' },
        prompter: undefined,
        interrupts: {
          signal: either,
          get isStopped() {
            return either.aborted
          },
          get isTerminated() {
            return context.interrupts.isTerminated
          },
        },
        streams: {
          stdin: { isTTY: false, stream: Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]) },
          stdout: into((text) => printed.push(text)),
          stderr: into(() => onNote?.()),
        },
      })
      const text = printed.join('')
      return { code, document: text === '' ? undefined : (JSON.parse(text) as unknown) }
    })
  }
}

function into(write: (text: string) => void): Sink {
  return {
    write: (data) => write(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')),
    drained: () => Promise.resolve(),
    isTTY: false,
    columns: 80,
  }
}
