import { type Delivery, isAccepted } from '../../domain/webhook/delivery.ts'
import { rules, type ReceiverEvent } from '../../domain/webhook/receiver-check.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { type CaseRun, createCases, eventKeyOf, type ReceiverCase, toEventKey } from './receiver-cases.ts'

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
  ...createCases(
    [
      ['stored-first', 'each event is stored before it is acknowledged', rules.acknowledge, checkStoredFirst],
      [
        'stored-once',
        'the same event three times in turn, and four times at once, is stored once',
        rules.atLeastOnce,
        async (test) => {
          const [inTurnDelivery, atOnceDelivery] = [test.signedDelivery(), test.signedDelivery()]
          for (const label of ['the first time', 'the second time', 'the third time'])
            await test.accept(inTurnDelivery, label)
          await Promise.all([1, 2, 3, 4].map(() => test.accept(atOnceDelivery)))
          const { listed } = await waitUntilStored(test, [inTurnDelivery, atOnceDelivery].map(eventKeyOf))
          for (const [delivery, deliveredText] of [
            [inTurnDelivery, 'delivered 3 times in turn'],
            [atOnceDelivery, 'delivered 4 times at once'],
          ] as const) {
            const times = listed.filter((pair) => pair === eventKeyOf(delivery)).length
            const storedText = times === 0 ? 'not stored' : `stored ${times} times`
            if (times !== 1) test.report('must', `an event ${deliveredText} is ${storedText}`)
          }
        },
      ],
      [
        'stored-each-status',
        'three statuses of one request are three events',
        rules.atLeastOnce,
        checkEachStatusStored,
      ],
      [
        'stored-in-order',
        'events delivered one after another are stored in that order',
        rules.retried,
        checkStoredInOrder,
      ],
      [
        'stored-burst',
        `${burstEventCount} events side by side are all stored`,
        rules.acknowledge,
        async (test) => {
          const deliveries = Array.from({ length: burstEventCount }, () => test.signedDelivery())
          const replies = await Promise.all(deliveries.map((delivery) => test.post(delivery)))
          const accepted = deliveries
            .filter((_, index) => isAccepted(replies[index] ?? { status: null }))
            .map(eventKeyOf)
          const { missing } = await waitUntilStored(test, accepted)
          reportMissing(test, missing, accepted)
          if (accepted.length === 0) test.report('must', `none of ${burstEventCount} was accepted`)
        },
      ],
      [
        'stored-forged',
        'forged events are not stored, whatever is answered',
        rules.signature,
        async (test) => {
          const body = test.event({ status: 'PARTIAL' })
          const signatures = [test.sign(body)]
          const forged = [
            test.signedDelivery(test.event(), { signatures: [] }),
            test.signedDelivery(test.event(), { signatures: ['0'.repeat(64)] }),
            { body: Buffer.from(body.replace('PARTIAL', 'COMPLETED')), signatures },
          ]
          for (const delivery of forged) await test.post(delivery)
          // Once a later event is listed, the earlier ones would be listed as well.
          const laterDelivery = test.signedDelivery()
          await test.accept(laterDelivery, 'a good event after them')
          const { listed } = await waitUntilStored(test, [eventKeyOf(laterDelivery)])
          const storedCount = forged.filter((delivery) => listed.includes(eventKeyOf(delivery))).length
          if (storedCount > 0)
            test.report('must', `forged, and stored all the same: ${storedCount} of ${forged.length} events`)
        },
      ],
      [
        'stored-all',
        'all that was acknowledged in this check is stored once, and nothing that was forged',
        rules.atLeastOnce,
        checkAllStored,
      ],
    ],
    'stored',
  ),
  ...createCases(
    [
      [
        'stored-restart',
        'what was acknowledged is still stored after the receiver was killed and started again',
        rules.acknowledge,
        checkRestarts,
      ],
    ],
    'restart',
  ),
]

function reportMissing(test: CaseRun, missing: readonly string[], accepted: readonly string[]): void {
  if (missing.length > 0) test.report('must', `${missing.length} of ${lostEventsText(accepted)}`)
}

const lostEventsText = (accepted: readonly unknown[]): string =>
  `${formatCount(accepted.length, 'acknowledged event')} not stored ${maxStoreMs / 1000} s later: lost, since the service does not send them again`

/** The receiver's stored events, each as the pair (request_id, status) that `toEventKey` returns as text. */
interface StoredPairs {
  /** All listed pairs in the order stored, repeated ones included. */
  listed: string[]
  missing: string[]
  /** Milliseconds until all pairs were listed or the wait ended; 0 if the first read listed them all. */
  waitedMs: number
}

/** Reads the stored events until all pairs are listed or `maxStoreMs` have passed. */
async function waitUntilStored(test: CaseRun, pairs: readonly string[]): Promise<StoredPairs> {
  const startedAt = test.environment.clock.monotonic()
  for (let readCount = 0; ; readCount += 1) {
    const listed = (await test.environment.readStored()).map(toEventKey)
    const listedPairs = new Set(listed)
    const missing = pairs.filter((pair) => !listedPairs.has(pair))
    const waitedMs = readCount === 0 ? 0 : test.environment.clock.monotonic() - startedAt
    if (missing.length === 0 || waitedMs >= maxStoreMs) return { listed, missing, waitedMs }
    await test.environment.clock.sleep(pollIntervalMs)
  }
}

async function checkStoredFirst(test: CaseRun): Promise<void> {
  const eventCount = 10
  const lateWaitsMs: number[] = []
  let lostCount = 0
  for (let sentCount = 0; sentCount < eventCount && lostCount === 0; sentCount += 1) {
    const delivery = test.signedDelivery()
    if (!isAccepted(await test.accept(delivery))) continue
    const { missing, waitedMs } = await waitUntilStored(test, [eventKeyOf(delivery)])
    if (missing.length > 0) lostCount += 1
    else if (waitedMs > 0) lateWaitsMs.push(waitedMs)
  }
  if (lostCount > 0) test.report('must', `an ${lostEventsText([0]).replace(/^1 /, '')}`)
  if (lateWaitsMs.length > 0) {
    const longest = Math.round(Math.max(...lateWaitsMs))
    test.report(
      'must',
      `${lateWaitsMs.length} of ${eventCount} events were acknowledged before they were stored: they were not listed then, and ${longest} ms later they were`,
    )
  }
}

async function checkEachStatusStored(test: CaseRun): Promise<void> {
  const { request_id } = JSON.parse(test.event()) as ReceiverEvent
  const statuses = ['IN_PROGRESS', 'PARTIAL', 'COMPLETED']
  const deliveries = statuses.map((status) => test.signedDelivery(test.event({ request_id, status })))
  for (const [index, delivery] of deliveries.entries()) await test.accept(delivery, statuses[index])
  const { missing } = await waitUntilStored(test, deliveries.map(eventKeyOf))
  if (missing.length === 0) return
  const missingText = statuses
    .filter((status) => missing.includes(toEventKey({ request_id, status })))
    .join(' and ')
  const causes: Readonly<Record<string, string>> = {
    'PARTIAL and COMPLETED':
      ': it deduplicates on request_id alone; the pair (request_id, status) identifies an event',
    'IN_PROGRESS and PARTIAL': ': it keeps one status of each request, and loses the others',
  }
  test.report(
    'must',
    `${missingText} of one request ${missing.length === 1 ? 'is' : 'are'} not stored${causes[missingText] ?? ''}`,
  )
}

async function checkStoredInOrder(test: CaseRun): Promise<void> {
  const { request_id } = JSON.parse(test.event()) as ReceiverEvent
  const deliveries = [
    ...Array.from({ length: 6 }, () => test.signedDelivery()),
    ...['COMPLETED', 'PARTIAL'].map((status) => test.signedDelivery(test.event({ request_id, status }))),
  ]
  for (const delivery of deliveries) await test.accept(delivery)
  const sent = deliveries.map(eventKeyOf)
  const { listed, missing } = await waitUntilStored(test, sent)
  if (missing.length > 0) return reportMissing(test, missing, sent)
  // An event that is stored twice counts at its first position; another case reports the repetition.
  const order = [...new Set(listed.filter((pair) => sent.includes(pair)))]
  if (order.every((pair, index) => pair === sent[index])) return
  const isNewestFirst = order.toReversed().every((pair, index) => pair === sent[index])
  const numbers = order.map((pair) => sent.indexOf(pair) + 1).join(', ')
  test.report(
    'advice',
    isNewestFirst
      ? 'the last event stands first: either they are stored out of order, or the list is not in the order stored'
      : `events delivered one after another are stored out of order: ${numbers}`,
  )
}

async function checkAllStored(test: CaseRun): Promise<void> {
  const { acknowledged, forged } = test.environment.sent
  const expected = [...acknowledged].filter((pair) => pair !== '')
  const { listed, missing } = await waitUntilStored(test, expected)
  const counts = new Map<string, number>()
  for (const pair of listed) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  const repeated = expected.filter((pair) => (counts.get(pair) ?? 0) > 1)
  const storedForged = [...forged].filter((pair) => !acknowledged.has(pair) && counts.has(pair))
  reportMissing(test, missing, expected)
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
      const explanation = missing.length === acknowledged.length ? '; it keeps them in memory alone, or' : ':'
      return test.report(
        'must',
        `missing after the receiver was killed and started again: ${missing.length} of ${acknowledged.length} acknowledged events${explanation} it acknowledges before it stores`,
      )
    }
    const repeatedDeliveries = acknowledged.slice(-3)
    for (const delivery of repeatedDeliveries)
      await test.accept(delivery, 'delivered again after the restart')
    const { listed } = await waitUntilStored(test, repeatedDeliveries.map(eventKeyOf))
    const storedTwice = repeatedDeliveries.filter(
      (delivery) => listed.filter((pair) => pair === eventKeyOf(delivery)).length > 1,
    )
    if (storedTwice.length > 0) {
      return test.report(
        'must',
        `stored again when delivered again after restart ${round + 1}: ${storedTwice.length} of ${repeatedDeliveries.length} events; it forgets what it has processed`,
      )
    }
  }
}

/**
 * Sends events concurrently and restarts the receiver after `killAfter` acknowledgements. Each sender ends at its
 * first failure.
 */
async function loadUntilKilled(test: CaseRun, killAfter: number) {
  const acknowledged: Delivery[] = []
  let restarting: Promise<void> | undefined
  const restart = (): Promise<void> => (restarting ??= test.environment.restart())
  const load = { isFailed: false, isOver: false, sent: 0 }
  const endLoad = (): void => void (load.isOver = true)
  const send = async (): Promise<void> => {
    while (!load.isOver && load.sent < maxEventsBeforeKill) {
      load.sent += 1
      const delivery = test.signedDelivery()
      const reply = await test.post(delivery, { mayFail: true })
      if (!isAccepted(reply)) {
        load.isFailed ||= reply.status === null || reply.status >= 500
        return
      }
      acknowledged.push(delivery)
      if (acknowledged.length === killAfter) {
        // An error of the restart is thrown by the `await` below.
        restart().then(endLoad, endLoad)
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
export const lastCases: readonly ReceiverCase[] = createCases([
  [
    'burst',
    `${burstSize} events side by side`,
    rules.acknowledge,
    async (test) => {
      await Promise.all(Array.from({ length: burstSize }, () => test.accept(test.signedDelivery())))
      const notAcceptedCount = test.findings.length
      const [first] = test.findings.splice(0)
      // The API document does not state how many events may arrive at once, so this is only advice.
      if (first !== undefined)
        test.report(
          'advice',
          `${notAcceptedCount} of ${burstSize} were not accepted, one of them: ${first.text}`,
        )
    },
  ],
  [
    'signed-oddities',
    'bodies with a good signature that are no event',
    rules.acknowledge,
    async (test) => {
      for (const [label, body] of [
        ['nothing', ''],
        ['not JSON', 'hello'],
        ['JSON null', 'null'],
        ['a list', '[]'],
        ['an empty object', '{}'],
        ['numbers for strings', '{"event":1,"request_id":2,"status":3}'],
      ] as const)
        await test.survive(test.signedDelivery(body), label)
    },
  ],
  [
    'still-good',
    'a good event after all that',
    rules.acknowledge,
    (test) => test.accept(test.signedDelivery()),
  ],
])
