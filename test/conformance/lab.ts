import { readdirSync, readFileSync } from 'node:fs'

import { onTestFinished } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { HttpClient } from '../../src/http/client.ts'
import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import type { ConformanceReport } from '../../src/conformance/case.ts'
import { type ConformanceOptions, runConformance } from '../../src/conformance/run.ts'
import { connectToSandbox } from '../../src/conformance/sandbox-control.ts'
import type { Target } from '../../src/conformance/target.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { type Handler, listen } from '../../src/server/listen.ts'
import { largeQuota } from './quotas.ts'

/** Returns an HTTP client that is closed at the end of the test, before `closeService` is called. */
export function createHttp(closeService: () => unknown): HttpClient {
  const http = new HttpClient({ clock: systemClock, env: {}, userAgent: 'refcheck-test' })
  onTestFinished(async () => {
    await http.close()
    await closeService()
  })
  return http
}

/** Runs the whole suite, or the part that the options select, on a deployment that it may control. */
export const runSuite = (options: Omit<ConformanceOptions, 'clock'>): Promise<ConformanceReport> =>
  runConformance({ clock: systemClock, allowCreate: true, receivePort: 0, ...options })

/** A sandbox on a port, whose clock moves only when the suite moves it, and the target for a run of the suite. */
export interface Lab {
  sandbox: Sandbox
  clock: ManualClock
  target: Target
  http: HttpClient
  /** Runs the whole suite, or the part that the options select. */
  run: (options?: Partial<ConformanceOptions>) => Promise<ConformanceReport>
}

export interface LabOptions extends Partial<SandboxOptions> {
  /** Creates the handler of the port; without it, the sandbox answers. */
  createHandler?: ((sandbox: Sandbox) => Handler) | undefined
}

const start = Date.parse('2026-03-02T09:00:00.000Z')

export async function createLab(options: LabOptions = {}): Promise<Lab> {
  const { createHandler, ...sandboxOptions } = options
  const clock = new ManualClock(start)
  const quota = options.quota ?? largeQuota
  const sandbox = createSandbox({ seed: 'refcheck', ...sandboxOptions, clock, quota })
  const service: Handler =
    createHandler?.(sandbox) ?? ((request, connection) => sandbox.fetch(request, connection))
  const listener = await listen((request, connection) =>
    new URL(request.url).pathname.startsWith('/_sandbox/')
      ? sandbox.fetch(request, connection)
      : service(request, connection),
  )
  const http = createHttp(async () => {
    await listener.close()
    sandbox.close()
  })
  const { apiKey, userEmail, webhookSecret } = sandbox.credentials
  const target: Target = {
    baseUrl: listener.url,
    apiKey,
    userEmail,
    webhookSecret,
    secondEmail: sandbox.people.member,
    foreignUser: sandbox.otherOrganisationOwner,
    // Each e-mail contains the name of a scenario of the sandbox: with `mixed`, one check ends CANCELLED, the others COMPLETED.
    recipients: {
      cancelled: 'conformance+declined@example.com',
      error: 'conformance+error@example.com',
      mixed: 'conformance+mixed@example.com',
    },
    inactiveTeams: listInactiveTeams(sandbox),
    inactiveEmail: sandbox.people.inactive,
    ...(isSupportRoleForbiddenToCreate(options) && { noCreateEmail: findSupportEmail(sandbox) }),
    ...(options.quota !== undefined && { quota }),
  }
  return {
    sandbox,
    clock,
    target,
    http,
    run: async (runOptions = {}) =>
      runSuite({ http, target, control: await connectToSandbox(http, target), ...runOptions }),
  }
}

const isSupportRoleForbiddenToCreate = ({ rules }: LabOptions): boolean =>
  typeof rules !== 'object' || rules['support-creates'] !== 'yes'

const findSupportEmail = (sandbox: Sandbox): string | undefined =>
  sandbox.snapshot().users.find(({ role, active }) => role === 'support' && active)?.email

const listInactiveTeams = (sandbox: Sandbox): string[] =>
  sandbox
    .snapshot()
    .teams.filter((team) => !team.active)
    .map((team) => team.id)

/** Returns the broken cases with their findings. */
export const listBrokenCases = ({ cases }: ConformanceReport) =>
  cases.filter(({ verdict }) => verdict === 'broken').map(({ id, findings }) => ({ id, findings }))

export const listUntestedCases = ({ cases }: ConformanceReport) =>
  cases.filter(({ verdict }) => verdict === 'not_judged').map(({ id, reason }) => ({ id, reason }))

export const isQuotaCase = ({ id }: { id: string }): boolean =>
  id.startsWith('throttle.') || id === 'answers.retry-after'

/** Returns the modules that the files of the given subfolder import from outside it. */
export function listOuterImports(folder: 'second/' | 'third/'): string[] {
  const url = new URL(folder, import.meta.url)
  const imports = readdirSync(url).flatMap((name) =>
    [...readFileSync(new URL(name, url), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from = '']) => from),
  )
  return [...new Set(imports)].filter((from) => from.startsWith('..'))
}

/**
 * Returns a predicate that selects the cases to run for a defect. `answers.retry-after` checks answers with 429, and
 * only `throttle.minute` causes them, so for it both run.
 */
export const selectCases =
  ({ caughtBy, alsoRuns }: { caughtBy: string; alsoRuns?: string | undefined }) =>
  ({ id }: { id: string }): boolean =>
    id === caughtBy || id === (caughtBy === 'answers.retry-after' ? 'throttle.minute' : alsoRuns)
