import { seeded } from '../../harness/seeded-random.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { windows } from '../quota/hour.ts'
import type { Api } from '../../../src/api/api.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import type { WaitGoal } from '../../../src/domain/request/goal.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { createGovernor } from '../../../src/usecases/quota/governor.ts'
import { waitForRequests } from '../../../src/usecases/request/wait.ts'
import { createTemporaryStores } from '../../store/ledger/temporary-stores.ts'

export interface SimulationOptions {
  seed: number
  requests: number
  /** The latest time at which the last request is finished, in ms. */
  spanMs: number
  /** Whether events are added to the inbox; `dies` means only in the first half of the span. */
  receiver: 'none' | 'runs' | 'dies'
  goal?: WaitGoal
  /** The statuses of each request, in order. */
  statuses?: readonly string[]
  timeoutMs?: number
}

export interface SimulationResult {
  /** When each read was made, ms from the start. */
  reads: number[]
  /** How late each change of status was read, in ms. */
  lateness: number[]
  /** Reads of a request that had been read as finished. */
  readsAfterFinalStatus: number
  durationMs: number
  failure: string | undefined
}

interface RequestHistory {
  id: string
  /** When each status began, ms from the start. */
  changes: { at: number; status: string }[]
}

const usualStatuses = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED']
const eventDelayMs = 800

/** Waits, with the real governor and store, for requests that progress on a virtual clock. */
export async function simulateWait(options: SimulationOptions): Promise<SimulationResult> {
  const { seed, requests, spanMs, receiver, goal = 'terminal', statuses = usualStatuses } = options
  const random = seeded(seed)
  const clock = new ManualClock({ auto: true })
  const home = createTemporaryStores(5000)
  const histories = Array.from({ length: requests }, (_, at) => createHistory(at, spanMs, statuses, random))
  const result: SimulationResult = {
    reads: [],
    lateness: [],
    readsAfterFinalStatus: 0,
    durationMs: 0,
    failure: undefined,
  }
  const lastStatuses = new Map<string, string>()
  const api: Pick<Api, 'baseUrl' | 'getRequest'> = {
    baseUrl: 'https://api.example.com',
    async getRequest(id) {
      const now = clock.monotonic()
      const past = histories.find((each) => each.id === id)?.changes.filter(({ at }) => at <= now) ?? []
      const current = past.at(-1)
      if (current === undefined) throw new Error(`no request ${id}`)
      const before = lastStatuses.get(id)
      if (before === statuses.at(-1)) result.readsAfterFinalStatus += 1
      if (before !== undefined && before !== current.status) result.lateness.push(now - current.at)
      lastStatuses.set(id, current.status)
      result.reads.push(now)
      await clock.sleep(50 + Math.floor(random() * 200))
      const recipient = { first_name: 'Ana', last_name: 'Row1' }
      return { request_id: id, status: current.status, checks: [], recipient } as unknown as RequestResource
    },
  }
  try {
    const { quota, inbox } = await home.openStore()
    const account = quota.account('http://127.0.0.1', 'k'.repeat(32))
    const { requests: read, failure } = await waitForRequests(
      api,
      histories.map(({ id }) => id),
      {
        goal,
        timeoutMs: options.timeoutMs ?? Number.POSITIVE_INFINITY,
        clock,
        governor: createGovernor({ quota, account, windows, clock }),
        inbox:
          receiver === 'none'
            ? undefined
            : addDueEvents(
                inbox,
                clock,
                histories,
                receiver === 'dies' ? spanMs / 2 : Number.POSITIVE_INFINITY,
              ),
      },
    )
    if (failure === undefined && read.length !== requests) throw new Error('not all were answered')
    return { ...result, durationMs: clock.monotonic(), failure: failure?.code }
  } finally {
    await home.remove()
  }
}

function createHistory(
  at: number,
  spanMs: number,
  statuses: readonly string[],
  random: () => number,
): RequestHistory {
  const times = statuses.slice(1).map(() => Math.floor(random() * spanMs))
  const changeTimes = [0, ...times.sort((a, b) => a - b)]
  const id = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
  return { id, changes: statuses.map((status, which) => ({ at: changeTimes[which] ?? 0, status })) }
}

/** Returns an inbox that adds, before each read, the events that a receiver would have received by then. */
function addDueEvents(
  inbox: Inbox,
  clock: ManualClock,
  histories: readonly RequestHistory[],
  until: number,
): Pick<Inbox, 'findLatestStatus' | 'list'> {
  const events = histories
    .flatMap(({ id, changes }) => changes.slice(1).map(({ at, status }) => ({ id, at, status })))
    .filter(({ at }) => at < until)
    .sort((a, b) => a.at - b.at)
  const deliver = async (): Promise<void> => {
    while (events[0] !== undefined && events[0].at + eventDelayMs <= clock.monotonic()) {
      const { id, status } = events.shift() as (typeof events)[number]
      const body = new TextEncoder().encode(
        JSON.stringify({ event: 'request.updated', request_id: id, status }),
      )
      const event = { body, signature: '0'.repeat(64), requestId: id, status, event: 'request.updated' }
      await inbox.add([{ ...event, receivedAt: clock.now(), oddity: undefined }], false)
    }
  }
  return {
    findLatestStatus: async (...request) => {
      await deliver()
      return inbox.findLatestStatus(...request)
    },
    async *list(filter) {
      await deliver()
      yield* inbox.list(filter)
    },
  }
}

/** Returns the largest number of reads in any period of `ms`. */
export function countMaxWithin(reads: readonly number[], ms: number): number {
  let [from, max] = [0, 0]
  for (const [to, at] of reads.entries()) {
    while ((reads[from] ?? 0) <= at - ms) from += 1
    max = Math.max(max, to - from + 1)
  }
  return max
}
