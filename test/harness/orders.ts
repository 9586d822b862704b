import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import type { Sandbox } from '../../src/sandbox/control/embedded.ts'
import { REPORT_FILE } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { fullInformation, orderArguments } from './people.ts'
import { type Session, session } from './session.ts'
import { type World, world } from './world.ts'

/**
 * Returns the command line that orders for `Ana`, or for `Ana+declined` with the scenario `declined`. With `full` it
 * orders the package with every check.
 */
function scenarioOrderArguments(person: string, full: boolean): string[] {
  const [first = '', tag] = person.split('+')
  const email = `${first.toLowerCase()}@example.com`
  return orderArguments(first, ['--yes', '--quiet', ...(full ? fullInformation : [])]).map((each) => {
    if (each === email && tag !== undefined) return email.replace('@', `+${tag}@`)
    return full && each === '102' ? '101' : each
  })
}

/**
 * Creates a world with one order for each of `people`, made `minutes` ago. A person is `Ana`, or `Ana+declined` with
 * a scenario of the sandbox.
 */
export async function worldWithOrders(people: readonly string[], { minutes = 60, full = false } = {}) {
  const clock = new ManualClock()
  const here = await world({ clock, quota: [] })
  const type = (line: string, more = {}) => here.run(splitWords(line), { clock, ...more })
  for (const person of people) await here.run(scenarioOrderArguments(person, full), { clock })
  await clock.advance(minutes * 60_000)
  const ids = here.sandbox.requests().map((each) => each.request_id)
  return {
    ...here,
    clock,
    type,
    ids,
    reports: join(here.folder, 'reports'),
    /** Returns the number of calls that counted against the quota since this function was called last. */
    countNewQuotaCalls: countNewCalls(here.sandbox),
  }
}

export interface SessionWithOrders extends Session {
  /** Ids of the requests, in the sequence of `people`. */
  ids: string[]
  /** Path of the folder of `--output reports`. */
  reports: string
  /** Returns the number of calls that counted against the quota since this function was called last. */
  countNewQuotaCalls: () => number
}

/** Creates the same orders as `worldWithOrders`, in a session. */
export async function sessionWithOrders(
  people: readonly string[],
  { minutes = 60, full = false } = {},
): Promise<SessionWithOrders> {
  const clock = new ManualClock()
  const here = await session({
    clock,
    quota: [],
    filters: [...REPORT_FILE, [/"bytes": \d+/g, '"bytes": #']],
  })
  for (const person of people) await here.type(scenarioOrderArguments(person, full))
  await clock.advance(minutes * 60_000)
  const countQuotaCalls = (): number =>
    here.listCalls().filter((call) => !call.includes(' /v1/reports/') && !call.includes(' /v1/ping')).length
  let countedBefore = countQuotaCalls()
  return {
    ...here,
    ids: here.sandbox.requests().map((each) => each.request_id),
    reports: join(here.folder, 'reports'),
    countNewQuotaCalls: () => {
      const before = countedBefore
      countedBefore = countQuotaCalls()
      return countedBefore - before
    },
  }
}

const splitWords = (line: string): string[] => line.split(' ').filter((word) => word !== '')

function countNewCalls(sandbox: { log: { entries(): readonly { kind: string }[] } }): () => number {
  let countedBefore = 0
  return () => {
    const entries = sandbox.log.entries().slice(countedBefore) as { kind: string; path?: string }[]
    countedBefore += entries.length
    return entries.filter((each) => each.kind === 'call' && !each.path?.startsWith('/v1/reports/')).length
  }
}

/** Returns the signed URL of a background report from the sandbox, because the program never prints one. */
export function signedUrl({ sandbox, url }: Pick<World, 'sandbox' | 'url'>): string {
  const checks = sandbox.requests()[0]?.checks ?? []
  const signed = checks.find(({ type }) => type === 'background')?.report_pdf_url ?? ''
  return signed.replace('http://127.0.0.1', url)
}

/** Advances the first `count` requests of a sandbox until they are COMPLETED; all requests by default. */
export function completeRequests(sandbox: Sandbox, count = Infinity): void {
  for (const { request_id } of sandbox.requests().slice(0, count))
    while (sandbox.requests().find((each) => each.request_id === request_id)?.status !== 'COMPLETED')
      sandbox.advanceRequest(request_id)
}

/** Returns the paths of all PDF files below a folder. */
export const listPdfs = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pdf'))
    .sort()

/** Orders for a person, and returns the request’s id. Flags in `more` select the package with every check. */
export async function createRequestFor(
  { type }: Pick<Session, 'type'>,
  first = 'Priya',
  more: readonly string[] = [],
): Promise<string> {
  const argv = orderArguments(first, ['--yes', '--json', ...more])
  const outcome = await type(more.length === 0 ? argv : argv.map((each) => (each === '102' ? '101' : each)))
  expect(outcome.code).toBe(0)
  return (outcome.json() as { request_id: string }).request_id
}
