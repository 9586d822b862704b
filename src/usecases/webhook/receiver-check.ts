import { signingKey } from '../../contract/signature.ts'
import { type Delivery, type Reply, shownUrl, unreachable } from '../../domain/webhook/delivery.ts'
import {
  type CaseReport,
  caseReport,
  receiverReport,
  type ReceiverReport,
  type Finding,
  skipCase,
  rules,
} from '../../domain/webhook/receiver-check.ts'
import { IncompleteError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import type { HttpClient } from '../../http/client.ts'
import {
  acceptingCases,
  CaseRun,
  type ReceiverCase,
  lastCases,
  refusingCases,
  rewriting,
} from './receiver-cases.ts'
import { postEvent } from './send.ts'

export interface ReceiverCheckOptions {
  http: HttpClient
  clock: Clock
  random: Random
  /** The receiver: https, or http to this machine. */
  url: string
  secret: string
  /** Milliseconds an answer may take; the document's 10 s unless told. */
  withinMs?: number | undefined
  /** Advice counts like a broken rule. */
  strict?: boolean | undefined
  /** Cases by id, or by the first word of it; none stands for all. */
  only?: readonly string[] | undefined
  signal?: AbortSignal | undefined
  /** Told after each case. */
  onCase?: ((result: CaseReport, done: number, of: number) => void) | undefined
}

interface ReceiverCheck {
  report: ReceiverReport
  failure: IncompleteError | undefined
}

/** "within 10 seconds" ("Events", rule 2). */
const acknowledgementMs = 10_000
/** How much longer an answer is waited for, to tell late from never. */
const graceMs = 1_000
/** Answers that stay out before the rest is given up: each costs the whole time. */
const maxSilences = 3

const inTime = { id: 'in-time', title: 'an answer in time', rule: rules.acknowledge }
const allCases: readonly ReceiverCase[] = [...acceptingCases, ...refusingCases, ...lastCases]

/**
 * Drives a receiver through what the service may do to it. Throws UnavailableError where nobody
 * listens, UsageError for a URL or a case that cannot be meant, and the signal's reason.
 */
export async function checkReceiver(options: ReceiverCheckOptions): Promise<ReceiverCheck> {
  const { strict = false, withinMs = acknowledgementMs, onCase } = options
  if (withinMs < 1) {
    throw new UsageError('--within must be above 0', { hint: 'For example: --within 2s' })
  }
  const { first, others, timed } = chooseCases(options.only ?? [])
  const session = new CheckSession(options, withinMs)
  const cases: CaseReport[] = []
  const of = others.length + Number(first) + Number(timed)
  const add = (result: CaseReport): void => {
    cases.push(result)
    onCase?.(result, cases.length, of)
  }
  const [opening] = acceptingCases
  if (opening === undefined) throw new RangeError('no such case')
  const start = await session.runCase(opening, strict)
  const accepting = session.accepted.length > 0
  if (first) add(start)
  for (const each of others) {
    if (!accepting)
      add(skipCase(each, 'it does not accept a valid event, without which nothing else can be judged'))
    else if (session.silences >= maxSilences) add(skipCase(each, 'the receiver stopped answering'))
    else add(await session.runCase(each, strict))
  }
  if (timed) add(reportLateness(session, withinMs))
  const report = receiverReport(shownUrl(options.url), cases, session)
  return { report, failure: failureOf(report, { accepting, said: start }) }
}

/** The rest of a case is not tried: the receiver has stopped answering. */
class StoppedAnswering extends Error {}

/** What all cases share: the courier, and what is known of the receiver so far. */
class CheckSession {
  deliveries = 0
  silences = 0
  readonly accepted: number[] = []
  readonly #options: ReceiverCheckOptions
  readonly #patienceMs: number
  readonly #keys: { key: ReturnType<typeof signingKey>; otherKey: ReturnType<typeof signingKey> }

  constructor(options: ReceiverCheckOptions, withinMs: number) {
    this.#options = options
    this.#patienceMs = withinMs + Math.min(graceMs, withinMs)
    this.#keys = {
      key: signingKey(options.secret),
      otherKey: signingKey(options.random.bytes(32)),
    }
  }

  async runCase(each: ReceiverCase, strict: boolean): Promise<CaseReport> {
    const { random, clock } = this.#options
    const test = new CaseRun({ ...this.#keys, random, post: (parcel) => this.#post(parcel) })
    const startedAt = clock.monotonic()
    await each.run(test).catch((error: unknown) => {
      if (!(error instanceof StoppedAnswering)) throw error
    })
    this.accepted.push(...test.accepted)
    const { findings, replies } = test
    return caseReport(
      each,
      { findings, answers: replies, milliseconds: clock.monotonic() - startedAt },
      strict,
    )
  }

  async #post(parcel: Delivery): Promise<Reply> {
    const { signal } = this.#options
    signal?.throwIfAborted()
    if (this.silences >= maxSilences) throw new StoppedAnswering()
    const reply = await postEvent(parcel, { ...this.#options, patienceMs: this.#patienceMs })
    if (this.deliveries === 0 && !reply.reached) throw unreachable(this.#options.url, reply)
    this.deliveries += 1
    this.silences = reply.status === null ? this.silences + 1 : 0
    return reply
  }
}

/** Judged over all that was accepted; what never came is told by its own case. */
function reportLateness({ accepted }: CheckSession, withinMs: number): CaseReport {
  const late = accepted.filter((milliseconds) => milliseconds > withinMs)
  if (accepted.length === 0) return skipCase(inTime, 'it accepted nothing')
  const slowest = (Math.max(...accepted) / 1000).toFixed(1)
  const findings: Finding[] =
    late.length === 0
      ? []
      : [
          {
            level: 'must',
            text: `${late.length} of ${accepted.length} answers took longer than ${withinMs / 1000} s, the slowest ${slowest} s: store the event, answer, and process it afterwards`,
          },
        ]
  return caseReport(inTime, { findings, answers: [], milliseconds: 0 }, false)
}

function failureOf(
  { counts, passed, cases }: ReceiverReport,
  { accepting, said }: { accepting: boolean; said: CaseReport },
): IncompleteError | undefined {
  if (passed) return undefined
  const status = said.answers[0]?.status ?? null
  const rewrites = said.findings.some(({ text }) => text === rewriting)
  const hint =
    !accepting && !rewrites && status !== null && status >= 400 && status < 500
      ? 'It refuses a valid event. Check that it has the same secret, and that this is the path it listens on.'
      : cases.some(({ id, verdict }) => verdict === 'failed' && id === 'signature-missing')
        ? 'It accepts events without a signature. Verify each before you use it, as in: refcheck help webhooks'
        : rewrites ||
            cases.some(({ id, verdict }) => verdict === 'failed' && /^bytes-|^body-reformatted/.test(id))
          ? 'It does not verify the received bytes. Take the raw body (express.raw, context.req.arrayBuffer, a buffer parser in fastify, request.get_data() in Flask), and parse it afterwards.'
          : 'Each is listed above with the rule of the API document that it breaks.'
  const noun = counts.cases === 1 ? 'case' : 'cases'
  return new IncompleteError(`the receiver failed ${counts.failed} of ${counts.cases} ${noun}`, { hint })
}

/** Which cases run; the good event always does, since the others mean nothing without it. */
function chooseCases(only: readonly string[]): { first: boolean; others: ReceiverCase[]; timed: boolean } {
  const all = [...allCases, inTime]
  const unknown = only.find((name) => !all.some(({ id }) => isNamed(id, name)))
  if (unknown !== undefined) {
    throw new UsageError(`--only: no case named "${unknown}"`, {
      hint: `Cases: ${all.map(({ id }) => id).join(', ')}`,
    })
  }
  const isChosen = (id: string): boolean => only.length === 0 || only.some((name) => isNamed(id, name))
  const [opening, ...rest] = allCases
  return {
    first: isChosen(opening?.id ?? ''),
    others: rest.filter(({ id }) => isChosen(id)),
    timed: isChosen(inTime.id),
  }
}

function isNamed(id: string, name: string): boolean {
  return id === name || id.startsWith(`${name}-`)
}
