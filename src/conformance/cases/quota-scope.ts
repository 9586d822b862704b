import { type Case, unless } from '../case.ts'
import { packages, schemaOf, secondEmail } from '../discoveries.ts'
import { expectStatus } from '../expect.ts'
import { plainOrder } from '../order.ts'
import type { Visit } from '../visit.ts'
import { atStartOfWindow, exceedQuota, fill, retryAfter, windowsOf } from './meter.ts'

const section = 'Limits'
const rule =
  'Per-minute quota | 60 requests per 60-second fixed window, per API key | All authenticated endpoints'
const kind = 'slow'

/** Whose calls share a window. */
export const quotaScopeCases: readonly Case[] = [
  {
    id: 'throttle.all-endpoints-together',
    section,
    rule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { probe } = visit
      const id = await readable(visit)
      const paths = ['/v1/packages', ...(id === undefined ? [] : [`/v1/packages/${id}/schema`])]
      if (visit.mayCreate) paths.push(`/v1/requests/${(await plainOrder(visit)).requestId}`)
      await atStartOfWindow(visit, windows)
      const taken: string[] = []
      for (const path of paths.slice(0, windows.minute.calls - 1)) {
        const answer = await probe.get(path, { throttled: 'tell' })
        if (answer.status === 200) taken.push(path)
      }
      unless(taken.length > 0, 'no other endpoint answered')
      const { accepted } = await fill(visit, windows.minute.calls)
      const left = windows.minute.calls - taken.length
      return accepted <= left
        ? []
        : [`after ${taken.length} calls of other endpoints ${accepted} were accepted, expected ${left}`]
    },
  },
  {
    id: 'throttle.all-users-together',
    section,
    rule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const as = { apiKey: visit.target.apiKey, userEmail: secondEmail(visit) }
      await atStartOfWindow(visit, windows)
      await exceedQuota(visit, windows)
      const note = 'as the second user, when the quota of the key is used up'
      return expectStatus(await visit.probe.get('/v1/users', { as, throttled: 'tell', note }), 429)
    },
  },
  {
    id: 'throttle.whole-seconds',
    section: 'Errors',
    rule: 'The 429 Retry-After value is the number of seconds left in the window that was breached (per-minute or per-hour, whichever was hit first).',
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const findings: string[] = []
      // Wherever within a second it is asked, the wait that is told has to be enough.
      for (const part of [150, 550, 850]) {
        await atStartOfWindow(visit, windows)
        await visit.pace.pause(part)
        const { refusal } = await exceedQuota(visit, windows)
        const told = retryAfter(refusal)
        unless(Number.isFinite(told) && told <= windows.minute.seconds, 'no 429 says when the window is over')
        await visit.pace.pause(told * 1000)
        const { accepted } = await fill(visit, 1)
        if (accepted === 0)
          findings.push(`${told} s, as told, were not enough: the next call was refused again`)
      }
      return findings
    },
  },
]

async function readable(visit: Visit): Promise<number | undefined> {
  for (const { id } of await packages(visit)) {
    if ((await schemaOf(visit, id)).status === 200) return id
  }
  return undefined
}
