import { isAccepted, type Reply } from '../../domain/webhook/delivery.ts'
import { rules } from '../../domain/webhook/receiver-check.ts'
import { type ReceiverEvent } from '../../domain/webhook/receiver-check.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { type CaseRun, eventKeyOf, type ReceiverCase, toEventKey } from './receiver-cases.ts'

/** Time in which an acknowledged event has to be listed; after that it counts as lost. */
const maxStoreMs = 2_000
const pollIntervalMs = 25
const burstEventCount = 100
/** Number of concurrent senders while the receiver is killed; each sends until one of its events fails. */
const senderCount = 4
const maxEventsBeforeKill = 1_000
/** Numbers of acknowledgements after which the receiver is killed, one restart for each number. */
const killThresholds = [1, 10, 40]

/** Cases that are judged by the list of stored events, since the responses alone do not show the result. */
export const storedCases: readonly ReceiverCase[] = [
  {
    id: 'stored-first',
    title: 'each event is stored before it is acknowledged',
    rule: rules.acknowledge,
    needs: 'stored',
    run: checkStoredFirst,
  },
  {
    id: 'stored-once',
    title: 'the same event three times in turn, and four times at once, is stored once',
    rule: rules.atLeastOnce,
    needs: 'stored',
    async run(test) {
      const [inTurn, atOnce] = [test.signedDelivery(), test.signedDelivery()]
      for (const what of ['the first time', 'the second time', 'the third time'])
        await test.accept(inTurn, what)
      await Promise.all([1, 2, 3, 4].map(() => test.accept(atOnce)))
      const { listed } = await waitUntilStored(test, [inTurn, atOnce].map(eventKeyOf))
      for (const [parcel, sent] of [
        [inTurn, 'delivered 3 times in turn'],
        [atOnce, 'delivered 4 times at once'],
      ] as const) {
        const times = listed.filter((pair) => pair === eventKeyOf(parcel)).length
        if (times > 1) test.report('must', `an event ${sent} is stored ${times} times`)
        if (times === 0) test.report('must', `an event ${sent} is not stored`)
      }
    },
  },
  {
    id: 'stored-each-status',
    title: 'three statuses of one request are three events',
    rule: rules.atLeastOnce,
    needs: 'stored',
    run: checkEachStatusStored,
  },
  {
    id: 'stored-in-order',
    title: 'events delivered one after another are stored in that order',
    rule: rules.retried,
    needs: 'stored',
    run: checkStoredInOrder,
  },
  {
    id: 'stored-burst',
    title: `${burstEventCount} events side by side are all stored`,
    rule: rules.acknowledge,
    needs: 'stored',
    async run(test) {
      const parcels = Array.from({ length: burstEventCount }, () => test.signedDelivery())
      const replies = await Promise.all(parcels.map((parcel) => test.post(parcel)))
      const accepted = parcels.filter((_, at) => isAccepted(replies[at] ?? { status: null })).map(eventKeyOf)
      const { missing } = await waitUntilStored(test, accepted)
      if (missing.length > 0) test.report('must', `${missing.length} of ${lostEventsText(accepted)}`)
      if (accepted.length === 0) test.report('must', `none of ${burstEventCount} was accepted`)
    },
  },
  {
    id: 'stored-forged',
    title: 'forged events are not stored, whatever is answered',
    rule: rules.signature,
    needs: 'stored',
    async run(test) {
      const body = test.event({ status: 'PARTIAL' })
      const signatures = [test.sign(body)]
      const forged = [
        test.signedDelivery(test.event(), { signatures: [] }),
        test.signedDelivery(test.event(), { signatures: ['0'.repeat(64)] }),
        { body: Buffer.from(body.replace('PARTIAL', 'COMPLETED')), signatures },
      ]
      for (const parcel of forged) await test.post(parcel)
      // Once a later event is listed, the earlier ones would be listed as well.
      const after = test.signedDelivery()
      await test.accept(after, 'a good event after them')
      const { listed } = await waitUntilStored(test, [eventKeyOf(after)])
      const stored = forged.filter((parcel) => listed.includes(eventKeyOf(parcel))).length
      if (stored > 0)
        test.report('must', `forged, and stored all the same: ${stored} of ${forged.length} events`)
    },
  },
  {
    id: 'stored-all',
    title: 'all that was acknowledged in this check is stored once, and nothing that was forged',
    rule: rules.atLeastOnce,
    needs: 'stored',
    run: checkAllStored,
  },
  {
    id: 'stored-restart',
    title: 'what was acknowledged is still stored after the receiver was killed and started again',
    rule: rules.acknowledge,
    needs: 'restart',
    run: checkRestarts,
  },
]

const lostEventsText = (accepted: readonly unknown[]): string =>
  `${formatCount(accepted.length, 'acknowledged event')} not stored ${maxStoreMs / 1000} s later: lost, since the service does not send them again`

interface StoredPairs {
  /** All listed pairs in the order stored, repeated ones included. */
  listed: string[]
  missing: string[]
  /** Milliseconds until all pairs were listed or the wait ended; 0 if the first read listed them all. */
  waitedMs: number
}

/** Reads the stored events until all pairs are listed or `maxStoreMs` have passed. */
async function waitUntilStored(test: CaseRun, pairs: readonly string[]): Promise<StoredPairs> {
  const startedAt = test.clock.monotonic()
  for (let readings = 0; ; readings += 1) {
    const listed = (await test.readStored()).map(toEventKey)
    const known = new Set(listed)
    const missing = pairs.filter((pair) => !known.has(pair))
    const waitedMs = readings === 0 ? 0 : test.clock.monotonic() - startedAt
    if (missing.length === 0 || waitedMs >= maxStoreMs) return { listed, missing, waitedMs }
    await test.clock.sleep(pollIntervalMs)
  }
}

async function checkStoredFirst(test: CaseRun): Promise<void> {
  const events = 10
  const late: number[] = []
  let lost = 0
  for (let sent = 0; sent < events && lost === 0; sent += 1) {
    const parcel = test.signedDelivery()
    if (!isAccepted(await test.accept(parcel))) continue
    const { missing, waitedMs } = await waitUntilStored(test, [eventKeyOf(parcel)])
    if (missing.length > 0) lost += 1
    else if (waitedMs > 0) late.push(waitedMs)
  }
  if (lost > 0) test.report('must', `an ${lostEventsText([0]).replace(/^1 /, '')}`)
  if (late.length > 0) {
    const longest = Math.round(Math.max(...late))
    test.report(
      'must',
      `${late.length} of ${events} events were acknowledged before they were stored: they were not listed then, and ${longest} ms later they were`,
    )
  }
}

async function checkEachStatusStored(test: CaseRun): Promise<void> {
  const { request_id } = JSON.parse(test.event()) as ReceiverEvent
  const statuses = ['IN_PROGRESS', 'PARTIAL', 'COMPLETED']
  const parcels = statuses.map((status) => test.signedDelivery(test.event({ request_id, status })))
  for (const [at, parcel] of parcels.entries()) await test.accept(parcel, statuses[at])
  const { missing } = await waitUntilStored(test, parcels.map(eventKeyOf))
  if (missing.length === 0) return
  const missingStatuses = statuses.filter((status) => missing.includes(toEventKey({ request_id, status })))
  const hasOnlyFirst = missingStatuses.length === 2 && !missingStatuses.includes('IN_PROGRESS')
  const hasOnlyLast = missingStatuses.length === 2 && !missingStatuses.includes('COMPLETED')
  const why = hasOnlyFirst
    ? ': it deduplicates on request_id alone; the pair (request_id, status) identifies an event'
    : hasOnlyLast
      ? ': it keeps one status of each request, and loses the others'
      : ''
  test.report(
    'must',
    `${missingStatuses.join(' and ')} of one request ${missingStatuses.length === 1 ? 'is' : 'are'} not stored${why}`,
  )
}

async function checkStoredInOrder(test: CaseRun): Promise<void> {
  const { request_id } = JSON.parse(test.event()) as ReceiverEvent
  const parcels = [
    ...Array.from({ length: 6 }, () => test.signedDelivery()),
    ...['COMPLETED', 'PARTIAL'].map((status) => test.signedDelivery(test.event({ request_id, status }))),
  ]
  for (const parcel of parcels) await test.accept(parcel)
  const sent = parcels.map(eventKeyOf)
  const { listed, missing } = await waitUntilStored(test, sent)
  if (missing.length > 0) return test.report('must', `${missing.length} of ${lostEventsText(sent)}`)
  // An event that is stored twice counts at its first position; another case reports the repetition.
  const order = [...new Set(listed.filter((pair) => sent.includes(pair)))]
  if (order.every((pair, at) => pair === sent[at])) return
  const isNewestFirst = order.toReversed().every((pair, at) => pair === sent[at])
  const numbers = order.map((pair) => sent.indexOf(pair) + 1).join(', ')
  test.report(
    'advice',
    isNewestFirst
      ? 'the last event stands first: either they are stored out of order, or the list is not in the order stored'
      : `events delivered one after another are stored out of order: ${numbers}`,
  )
}

async function checkAllStored(test: CaseRun): Promise<void> {
  const { acknowledged, forged } = test.sent
  const expected = [...acknowledged].filter((pair) => pair !== '')
  const { listed, missing } = await waitUntilStored(test, expected)
  const counts = new Map<string, number>()
  for (const pair of listed) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  const repeated = expected.filter((pair) => (counts.get(pair) ?? 0) > 1)
  const storedForged = [...forged].filter((pair) => !acknowledged.has(pair) && counts.has(pair))
  if (missing.length > 0) test.report('must', `${missing.length} of ${lostEventsText(expected)}`)
  if (repeated.length > 0)
    test.report(
      'must',
      `stored more than once: ${repeated.length} of ${formatCount(expected.length, 'event')}`,
    )
  if (storedForged.length > 0)
    test.report('must', `forged, and stored all the same: ${formatCount(storedForged.length, 'event')}`)
}

/** Kills the receiver under load, starts it again, and checks that all acknowledged events are stored. */
async function checkRestarts(test: CaseRun): Promise<void> {
  for (const [round, killAfter] of killThresholds.entries()) {
    const { acknowledged, isFailed } = await loadUntilKilled(test, killAfter)
    if (!isFailed) {
      return test.leaveUnjudged(
        'no delivery failed while --restart ran: the command has to end the receiver at once (SIGKILL), and start it again',
      )
    }
    const { missing } = await waitUntilStored(test, acknowledged.map(eventKeyOf))
    if (missing.length > 0) {
      const all = missing.length === acknowledged.length ? '; it keeps them in memory alone, or' : ':'
      return test.report(
        'must',
        `missing after the receiver was killed and started again: ${missing.length} of ${acknowledged.length} acknowledged events${all} it acknowledges before it stores`,
      )
    }
    const repeated = acknowledged.slice(-3)
    for (const parcel of repeated) await test.accept(parcel, 'delivered again after the restart')
    const { listed } = await waitUntilStored(test, repeated.map(eventKeyOf))
    const twice = repeated.filter((parcel) => listed.filter((pair) => pair === eventKeyOf(parcel)).length > 1)
    if (twice.length > 0) {
      return test.report(
        'must',
        `stored again when delivered again after restart ${round + 1}: ${twice.length} of ${repeated.length} events; it forgets what it has processed`,
      )
    }
  }
}

/**
 * Sends events concurrently and restarts the receiver after `killAfter` acknowledgements. Each sender ends at its
 * first failure.
 */
async function loadUntilKilled(test: CaseRun, killAfter: number) {
  const acknowledged: ReturnType<CaseRun['signedDelivery']>[] = []
  let restarting: Promise<void> | undefined
  const restart = (): Promise<void> => (restarting ??= test.restart())
  const load = { isFailed: false, isOver: false, sent: 0 }
  const end = (): void => void (load.isOver = true)
  const send = async (): Promise<void> => {
    while (!load.isOver && load.sent < maxEventsBeforeKill) {
      load.sent += 1
      const parcel = test.signedDelivery()
      const reply: Reply = await test.post(parcel, { mayFail: true })
      if (!isAccepted(reply)) {
        load.isFailed ||= reply.status === null || reply.status >= 500
        return
      }
      acknowledged.push(parcel)
      if (acknowledged.length === killAfter) {
        // An error of the restart is thrown by the `await` below.
        restart().then(end, end)
      }
    }
  }
  await Promise.all(Array.from({ length: senderCount }, send))
  await restart()
  return { acknowledged, isFailed: load.isFailed }
}

/** Number of events that are sent concurrently. */
const burstSize = 100

/** Cases that may make a receiver fail; they run last. */
export const lastCases: readonly ReceiverCase[] = [
  {
    id: 'burst',
    title: `${burstSize} events side by side`,
    rule: rules.acknowledge,
    async run(test) {
      await Promise.all(Array.from({ length: burstSize }, () => test.accept(test.signedDelivery())))
      const lost = test.findings.length
      const [first] = test.findings.splice(0)
      // The API document does not state how many events may arrive at once, so this is only advice.
      if (first !== undefined)
        test.report('advice', `${lost} of ${burstSize} were not accepted, one of them: ${first.text}`)
    },
  },
  {
    id: 'signed-oddities',
    title: 'bodies with a good signature that are no event',
    rule: rules.acknowledge,
    async run(test) {
      for (const [what, body] of [
        ['nothing', ''],
        ['not JSON', 'hello'],
        ['JSON null', 'null'],
        ['a list', '[]'],
        ['an empty object', '{}'],
        ['numbers for strings', '{"event":1,"request_id":2,"status":3}'],
      ] as const) {
        await test.survive(test.signedDelivery(body), what)
      }
    },
  },
  {
    id: 'still-good',
    title: 'a good event after all that',
    rule: rules.acknowledge,
    run: async (test) => void (await test.accept(test.signedDelivery())),
  },
]
