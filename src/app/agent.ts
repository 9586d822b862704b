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

/** The permissions that the user gave an agent when starting its server. */
export interface AgentAllowances {
  /** Absolute path of the folder whose files the agent may read; undefined if none is allowed. */
  files: string | undefined
  /** Absolute path of the folder that reports are downloaded to; undefined if none is allowed. */
  reports: string | undefined
  showsPersonalData: boolean
}

/** Serves a client on the standard streams until it closes them or `signal` is aborted. */
export async function serveAgents(app: App, allowances: AgentAllowances, signal: AbortSignal): Promise<void> {
  const { serveAgent } = await import('../mcp/server.ts')
  // Reads the keys first, so that they are redacted even if no call has needed them yet.
  await app.service('session').catch(() => undefined)
  const { stream: input } = app.context.streams.stdin
  await serveAgent(createAgentServices(app, allowances), { input, output: outputStream(app), signal })
}

function createAgentServices(app: App, allowances: AgentAllowances): AgentServices {
  const { clock, random } = app.context
  return {
    ...allowances,
    version: app.options.version,
    run: createReadOnlyRunner(app),
    redact: (text) => app.secrets.redact(text),
    plans: () => app.service('plans'),
    // A plan is an order or a batch that waits for approval. It belongs to the service, user and account in use.
    openPlanServices: async () => ({
      ...(await app.services('plans', 'clock', 'random', 'packageNames')),
      owner: await planOwner(app),
    }),
    now: () => clock.now(),
    createTextBoundary: () => random.bytes(8).toString('hex'),
  }
}

/** Returns a stream that writes to standard output. */
function outputStream({ context: { streams } }: App): Writable {
  const { stdout } = streams
  const drained = callbackify(async () => stdout.drain())
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      stdout.write(chunk)
      drained(done)
    },
  })
}

/**
 * Returns a function that runs read-only command lines without a terminal. Processes that they start are marked as an
 * agent's.
 */
function createReadOnlyRunner(app: App): RunReadOnly {
  const { context, options } = app
  const limit = new ConcurrencyLimit()
  const profile = options.profile === undefined ? [] : [`--profile=${options.profile}`]
  return async (argv, { stdin, signal, onNote }) => {
    const { runCommandLine } = context
    if (runCommandLine === undefined) throw new InternalError('no program to run command lines with')
    requireReadOnly(argv)
    const combinedSignal = AbortSignal.any([signal, context.interrupts.signal])
    return limit.run(combinedSignal, async () => {
      const printed: string[] = []
      const code = await runCommandLine([...argv, '--json', ...profile], {
        ...context,
        env: { ...context.env, [agentVariable]: '1' },
        prompter: undefined,
        interrupts: {
          signal: combinedSignal,
          get isStopped() {
            return combinedSignal.aborted
          },
          get isTerminated() {
            return context.interrupts.isTerminated
          },
        },
        streams: {
          stdin: { isTTY: false, stream: Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]) },
          stdout: sinkTo((text) => printed.push(text)),
          stderr: sinkTo(() => onNote?.()),
        },
      })
      const text = printed.join('')
      return { code, document: text === '' ? undefined : (JSON.parse(text) as unknown) }
    })
  }
}

function sinkTo(write: (text: string) => void): Sink {
  return {
    write: (data) => write(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')),
    drain: () => Promise.resolve(),
    isTTY: false,
    columns: 80,
  }
}
