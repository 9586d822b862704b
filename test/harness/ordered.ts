import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ManualClock } from './manual-clock.ts'
import { fullInformation, orderOf } from './people.ts'
import { type World, world } from './world.ts'

/** Requests that this store ordered, an hour ago by default: `Ana`, or with a scenario `Ana+declined`. */
export async function ordered(people: readonly string[], { minutes = 60, full = false } = {}) {
  const clock = new ManualClock()
  const here = await world({ clock, quota: [] })
  const type = (line: string, more = {}) => here.run(words(line), { clock, ...more })
  for (const person of people) {
    const order = orderOf(person.replace(/\+.*/, ''), ['--yes', '--quiet', ...(full ? fullInformation : [])])
    const tag = /\+.*/.exec(person)?.[0] ?? ''
    const email = `${person.replace(/\+.*/, '').toLowerCase()}@example.com`
    await here.run(
      order.map((each) => {
        if (each === email) return email.replace('@', `${tag}@`)
        return full && each === '102' ? '101' : each
      }),
      { clock },
    )
  }
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
