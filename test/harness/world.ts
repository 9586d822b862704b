import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { listen } from '../../src/server/listen.ts'
import { documentedFetch } from './documented-fetch.ts'
import { type Outcome, refcheck, type RunOptions } from './run-command.ts'
import { emptyEnv, roomyQuota, serviceEnv } from './service-env.ts'

export { emptyEnv }

/** Intercepts the program's calls: it answers a request itself, or passes a request to the service with `ask`. */
export type Interceptor = (
  request: Request,
  ask: (request: Request) => Response | Promise<Response>,
) => Response | Promise<Response>

/** A sandbox on a port, temporary folders, and a function that runs command lines with them. */
export interface World {
  sandbox: Sandbox
  url: string
  /** A temporary folder, removed with the test. */
  folder: string
  /** Environment with the address and key of the sandbox, and with settings and data folders below `folder`. */
  env: Record<string, string>
  /** Sets the interceptor of all further calls; undefined removes it. */
  intercept: (interceptor: Interceptor | undefined) => void
  /** Returns the e-mail of each order that the service has, in sequence. */
  listOrderedEmails: () => string[]
  /** Runs `refcheck …` in this world. */
  run: (argv: readonly string[], options?: RunOptions) => Promise<Outcome>
}

/** Creates a folder that is removed when the test ends. Returns its path. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a sandbox with temporary folders and a function that runs command lines; all of it ends with the test. */
export async function world(options: Partial<SandboxOptions> = {}): Promise<World> {
  const folder = temporaryFolder()
  const sandbox = createSandbox({ clock: systemClock, seed: 'refcheck', ...options })
  let interceptor: Interceptor | undefined
  const documented = documentedFetch(sandbox)
  const listener = await listen((request, connection) => {
    const ask = (asked: Request) => documented(asked, connection)
    return interceptor === undefined ? ask(request) : interceptor(request, ask)
  })
  onTestFinished(async () => {
    await listener.close()
    sandbox.close()
  })
  const { apiKey, webhookSecret } = sandbox.credentials
  const env = { ...emptyEnv(folder), ...serviceEnv(listener.url, sandbox.credentials) }
  return {
    sandbox,
    url: listener.url,
    folder,
    env,
    intercept: (next) => {
      interceptor = next
    },
    listOrderedEmails: () => sandbox.requests().map(({ recipient }) => recipient.email),
    async run(argv, more = {}) {
      const outcome = await refcheck(argv, { cwd: folder, ...more, env: { ...env, ...more.env } })
      expectNoSecret(outcome, [apiKey, webhookSecret])
      return outcome
    },
  }
}

/** Starts a world whose quota no test uses up. */
export async function worldWithLargeQuota(): Promise<World> {
  const here = await world({ quota: roomyQuota.quota })
  Object.assign(here.env, roomyQuota.env)
  return here
}

/** Expects that the output of a command contains no key and no secret. */
function expectNoSecret({ stdout, stderr }: Outcome, secrets: readonly string[]): void {
  for (const secret of secrets) expect(`${stdout}${stderr}`).not.toContain(secret)
}
