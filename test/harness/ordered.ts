import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import { REPORT_FILE } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { fullInformation, orderOf } from './people.ts'
import { type Session, session } from './session.ts'
import { type World, world } from './world.ts'

/** Flags that order for `Ana`, or with a scenario `Ana+declined`; `full`: the package of every check. */
function scenarioOrder(person: string, full: boolean): string[] {
  const [first = '', tag] = person.split('+')
  const email = `${first.toLowerCase()}@example.com`
  return orderOf(first, ['--yes', '--quiet', ...(full ? fullInformation : [])]).map((each) => {
    if (each === email && tag !== undefined) return email.replace('@', `+${tag}@`)
    return full && each === '102' ? '101' : each
  })
}

/** Requests that this store ordered, an hour ago by default: `Ana`, or with a scenario `Ana+declined`. */
export async function ordered(people: readonly string[], { minutes = 60, full = false } = {}) {
  const clock = new ManualClock()
  const here = await world({ clock, quota: [] })
  const type = (line: string, more = {}) => here.run(words(line), { clock, ...more })
  for (const person of people) await here.run(scenarioOrder(person, full), { clock })
  await clock.advance(minutes * 60_000)
  const ids = here.sandbox.requests().map((each) => each.request_id)
  return {
    ...here,
    clock,
    type,
    ids,
    reports: join(here.folder, 'reports'),
    /** Calls that count against the quota since the last call of it. */
    calls: counter(here.sandbox),
  }
}

export interface FiledSession extends Session {
  /** The requests, in the order of the people. */
  ids: string[]
  /** Where `--output reports` leads. */
  reports: string
  /** Calls that count against the quota since the last call of it. */
  quotaCalls: () => number
}

/** The same in a session. */
export async function filedSession(
  people: readonly string[],
  { minutes = 60, full = false } = {},
): Promise<FiledSession> {
  const clock = new ManualClock()
  const here = await session({
    clock,
    quota: [],
    filters: [...REPORT_FILE, [/"bytes": \d+/g, '"bytes": #']],
  })
  for (const person of people) await here.type(scenarioOrder(person, full))
  await clock.advance(minutes * 60_000)
  const counting = (): number =>
    here.calls().filter((call) => !call.includes(' /v1/reports/') && !call.includes(' /v1/ping')).length
  let seen = counting()
  return {
    ...here,
    ids: here.sandbox.requests().map((each) => each.request_id),
    reports: join(here.folder, 'reports'),
    quotaCalls: () => {
      const before = seen
      seen = counting()
      return seen - before
    },
  }
}

const words = (line: string): string[] => line.split(' ').filter((word) => word !== '')

function counter(sandbox: { log: { entries(): readonly { kind: string }[] } }): () => number {
  let seen = 0
  return () => {
    const entries = sandbox.log.entries().slice(seen) as { kind: string; path?: string }[]
    seen += entries.length
    return entries.filter((each) => each.kind === 'call' && !each.path?.startsWith('/v1/reports/')).length
  }
}

/** The signed URL of a background report, fresh from the service: the program prints none. */
export function signedUrl({ sandbox, url }: Pick<World, 'sandbox' | 'url'>): string {
  const checks = sandbox.requests()[0]?.checks ?? []
  const signed = checks.find(({ type }) => type === 'background')?.report_pdf_url ?? ''
  return signed.replace('http://127.0.0.1', url)
}

/** Every PDF below a folder. */
export const pdfsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pdf'))
    .sort()

/** Orders for a person; the request’s id. `more`: flags for the package of every check. */
export async function requestOf(
  { type }: Pick<Session, 'type'>,
  first = 'Priya',
  more: readonly string[] = [],
): Promise<string> {
  const argv = orderOf(first, ['--yes', '--json', ...more])
  const outcome = await type(more.length === 0 ? argv : argv.map((each) => (each === '102' ? '101' : each)))
  expect(outcome.code).toBe(0)
  return (outcome.json() as { request_id: string }).request_id
}
