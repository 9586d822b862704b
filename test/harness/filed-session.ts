import { join } from 'node:path'

import { SHA256, SIZE } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { fullInformation, orderOf } from './people.ts'
import { type Session, session } from './session.ts'

export interface FiledSession extends Session {
  /** The requests, in the order of the people. */
  ids: string[]
  /** Where `--output reports` leads. */
  reports: string
  /** Calls that count against the quota since the last call of it. */
  quotaCalls: () => number
}

/** Requests ordered an hour ago by default: `Ana`, or with a scenario `Ana+declined`. */
export async function filedSession(
  people: readonly string[],
  { minutes = 60, full = false } = {},
): Promise<FiledSession> {
  const clock = new ManualClock()
  const here = await session({
    clock,
    quota: [],
    filters: [SIZE, SHA256, [/"bytes": \d+/g, '"bytes": #'], [/(?<=[_/])[0-9a-f]{8}(?=\.pdf)/g, 'HASH']],
  })
  for (const person of people) {
    const [first = '', tag] = person.split('+')
    const name = first.toLowerCase()
    const email = `${name}@example.com`
    const order = orderOf(first, ['--yes', '--quiet', ...(full ? fullInformation : [])])
    await here.type(
      order.map((each) => {
        if (each === email && tag !== undefined) return `${name}+${tag}@example.com`
        return full && each === '102' ? '101' : each
      }),
    )
  }
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
