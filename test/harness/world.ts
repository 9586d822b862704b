import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { listen } from '../../src/server/listen.ts'
import { documentedFetch } from './documented.ts'
import { type Outcome, refcheck, type RunOptions } from './run-command.ts'
import { emptyEnv, roomyQuota, serviceEnv } from './service-env.ts'

export { emptyEnv }

/** What stands between the program and the service: it answers itself, or asks the service something. */
export type Between = (
  request: Request,
  ask: (request: Request) => Response | Promise<Response>,
) => Response | Promise<Response>

/** A sandbox on a port, folders of its own, and a way to type command lines at it. */
export interface World {
  sandbox: Sandbox
  url: string
  /** A temporary folder that goes away with the test. */
  folder: string
  /** Environment that needs no login; folders below `folder`. */
  env: Record<string, string>
  /** From now on this stands between; undefined for nothing. */
  intercept: (between: Between | undefined) => void
  /** Persons the service was asked to check, by their e-mails. */
  ordered: () => string[]
  /** Runs `refcheck …` in this world. */
  run: (argv: readonly string[], options?: RunOptions) => Promise<Outcome>
}

/** A folder that is removed when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Ends with the test. */
export async function world(options: Partial<SandboxOptions> = {}): Promise<World> {
  const folder = temporaryFolder()
  const sandbox = createSandbox({ clock: systemClock, seed: 'refcheck', ...options })
  let between: Between | undefined
  const documented = documentedFetch(sandbox)
  const listener = await listen((request, connection) => {
    const ask = (asked: Request) => documented(asked, connection)
    return between === undefined ? ask(request) : between(request, ask)
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
      between = next
    },
    ordered: () => sandbox.requests().map(({ recipient }) => recipient.email),
    async run(argv, more = {}) {
      const outcome = await refcheck(argv, { cwd: folder, ...more, env: { ...env, ...more.env } })
      expectNoSecret(outcome, [apiKey, webhookSecret])
      return outcome
    },
  }
}

/** One whose quota no test fills. */
export async function roomyWorld(): Promise<World> {
  const here = await world({ quota: roomyQuota.quota })
  Object.assign(here.env, roomyQuota.env)
  return here
}

/** Whatever a command prints, a key or secret is never part of it. */
function expectNoSecret({ stdout, stderr }: Outcome, secrets: readonly string[]): void {
  for (const secret of secrets) expect(`${stdout}${stderr}`).not.toContain(secret)
}
