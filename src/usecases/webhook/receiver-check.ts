import { signingKey } from '../../contract/signature.ts'
import {
  type Delivery,
  type Reply,
  withoutQuery,
  createUnreachableError,
} from '../../domain/webhook/delivery.ts'
import type { SigningKey } from '../../domain/webhook/verify.ts'
import type { ProgramRun, StartedProgram } from '../../host/run-program.ts'
import {
  type CaseReport,
  caseReport,
  receiverReport,
  type ReceiverReport,
  type RuleFinding,
  type ReceiverEvent,
  skipCase,
  rules,
} from '../../domain/webhook/receiver-check.ts'
import {
  RefcheckError,
  IncompleteError,
  InternalError,
  UnavailableError,
  UsageError,
} from '../../errors/kinds.ts'
import type { Random } from '../../host/random.ts'
import {
  CaseRun,
  type ReceiverCase,
  type SentEvents,
  acceptingCases,
  expectsBase64Finding,
  goodEventCase,
  refusingCases,
  rewritesJsonFinding,
} from './receiver-cases.ts'
import { lastCases, storedCases } from './stored-cases.ts'
import { acknowledgementMs, type DeliveryOptions, postEvent } from './send.ts'

export interface ReceiverCheckOptions extends Omit<DeliveryOptions, 'timeoutMs'> {
  random: Random
  /** Maximum response time in milliseconds; default: the 10 seconds of the API document. */
  withinMs?: number | undefined
  /** Whether advice counts as a broken rule. */
  strict?: boolean | undefined
  /** Ids of cases, or their first words; an empty list selects all. */
  only?: readonly string[] | undefined
  /** Reads the stored events of the receiver, in the order stored. Throws a RefcheckError if they cannot be read. */
  readStored?: ((signal: AbortSignal | undefined) => Promise<readonly ReceiverEvent[]>) | undefined
  /** Starts the receiver, or kills it and starts it again; given only together with `readStored`. */
  startReceiver?: (() => StartedProgram) | undefined
  /** Called after each case. */
  onCase?: ((result: CaseReport, doneCount: number, totalCount: number) => void) | undefined
}

interface ReceiverCheck {
  report: ReceiverReport
  /** The error for a receiver that failed a case. */
  failure: IncompleteError | undefined
}

/** Additional time for a response, in order to distinguish a late one from a missing one. */
const graceMs = 1_000
/** Number of consecutive missing responses after which the check stops, since each takes the maximum time. */
const maxMissingReplies = 3

/** Maximum time in which a restarted receiver has to respond, and in which its command has to end. */
const maxRestartMs = 60_000
const restartPollMs = 25

const storageUnknownReason =
  'answered 2xx; whether it was stored once cannot be seen: add --stored-url URL or --stored-file FILE'
const restartUnknownReason =
  'whether acknowledged events outlive a crash cannot be seen: add --restart COMMAND with --stored-url or --stored-file'

const lateCase = { id: 'in-time', title: 'an answer in time', rule: rules.acknowledge }
/** All cases but the first, which is `goodEventCase`, and the last, which is `lateCase`. */
const otherCases: readonly ReceiverCase[] = [
  ...acceptingCases,
  ...refusingCases,
  ...lastCases,
  ...storedCases,
]

/**
 * Tests a receiver with everything that the service may send. Throws UnavailableError if no server listens,
 * UsageError for an invalid URL or an unknown case, and the signal's reason.
 */
export async function checkReceiver(options: ReceiverCheckOptions): Promise<ReceiverCheck> {
  const { withinMs = acknowledgementMs, only = [] } = options
  if (withinMs < 1) {
    throw new UsageError('--within must be above 0', { hint: 'For example: --within 2s' })
  }
  requireKnownCases(only)
  const session = new CheckSession(options, withinMs)
  try {
    await session.open()
    return await runCases(session, options, withinMs)
  } finally {
    session.close()
  }
}

async function runCases(
  session: CheckSession,
  { only = [], onCase, url }: ReceiverCheckOptions,
  withinMs: number,
): Promise<ReceiverCheck> {
  const isChosen = ({ id }: { id: string }): boolean =>
    only.length === 0 || only.some((name) => matchesName(id, name))
  const chosenCases = otherCases.filter(isChosen)
  const total = chosenCases.length + [goodEventCase, lateCase].filter(isChosen).length
  const cases: CaseReport[] = []
  const addReport = (result: CaseReport): void => {
    cases.push(result)
    onCase?.(result, cases.length, total)
  }
  // It runs in any case, since the others cannot be judged without it.
  const goodEventReport = await session.runCase(goodEventCase)
  const isAccepting = session.acceptedMs.length > 0
  if (isChosen(goodEventCase)) addReport(goodEventReport)
  for (const each of chosenCases) {
    if (!isAccepting)
      addReport(skipCase(each, 'it does not accept a valid event, without which nothing else can be judged'))
    else if (session.missingReplies >= maxMissingReplies)
      addReport(skipCase(each, 'the receiver stopped answering'))
    else addReport(session.reportMissingOption(each) ?? (await session.runCase(each)))
  }
  if (isChosen(lateCase)) addReport(reportLateness(session, withinMs))
  const report = receiverReport(withoutQuery(url), cases, session)
  return { report, failure: findFailure(report, isAccepting, goodEventReport) }
}

/** Thrown to end a case whose receiver has stopped responding. */
class NoReplyError extends Error {}

/** The state that all cases share: the deliveries and the facts about the receiver so far. */
class CheckSession {
  /** Number of deliveries that were sent. */
  deliveries = 0
  /** Number of consecutive deliveries without a response. */
  missingReplies = 0
  /** Response times of the accepted deliveries, in milliseconds. */
  readonly acceptedMs: number[] = []
  readonly #options: ReceiverCheckOptions & DeliveryOptions
  /** The events that the receiver must have stored, and must not have stored. */
  readonly #sent: SentEvents = { acknowledged: new Set(), forged: new Set() }
  /** The program that this check started last. */
  #program: StartedProgram | undefined
  /** The key of the receiver's secret. */
  readonly #key: SigningKey
  /** The key of a secret that the receiver does not have. */
  readonly #otherKey: SigningKey

  constructor(options: ReceiverCheckOptions, withinMs: number) {
    this.#options = { ...options, timeoutMs: withinMs + Math.min(graceMs, withinMs) }
    this.#key = signingKey(options.secret)
    this.#otherKey = signingKey(options.random.bytes(32))
  }

  /**
   * Starts the receiver if it does not run, and checks that its stored events can be read, before anything is sent.
   */
  async open(): Promise<void> {
    const { startReceiver, readStored, signal } = this.#options
    if (startReceiver !== undefined) {
      const reply = await this.#probe()
      const isDown = isGatewayFailure(reply) || reply.failure === 'connection refused'
      if (!isDown && reply.status === null) throw createUnreachableError(this.#options.url, reply)
      if (isDown) {
        this.#program = startReceiver()
        await this.#waitUntilReached(this.#program)
      }
    }
    await readStored?.(signal)
  }

  close(): void {
    this.#program?.kill()
  }

  /** Returns the report of a case that is skipped because the user has not given the options that it needs. */
  reportMissingOption(receiverCase: ReceiverCase): CaseReport | undefined {
    const { readStored, startReceiver } = this.#options
    if (receiverCase.needs !== undefined && readStored === undefined)
      return skipCase(receiverCase, storageUnknownReason)
    return receiverCase.needs === 'restart' && startReceiver === undefined
      ? skipCase(receiverCase, restartUnknownReason)
      : undefined
  }

  async runCase(receiverCase: ReceiverCase): Promise<CaseReport> {
    const { random, clock, readStored, signal, strict = false } = this.#options
    const test = new CaseRun({
      key: this.#key,
      otherKey: this.#otherKey,
      random,
      clock,
      post: (delivery, { mayFail = false }) => this.#post(delivery, mayFail),
      readStored: async () => (await readStored?.(signal)) ?? [],
      restart: () => this.#restart(),
      sent: this.#sent,
    })
    const startedAt = clock.monotonic()
    await receiverCase.run(test).catch((error: unknown) => {
      signal?.throwIfAborted()
      // If the stored events cannot be read any more, that is a fault of the receiver.
      if (receiverCase.needs !== undefined && error instanceof RefcheckError)
        test.report('must', error.message)
      else if (!(error instanceof NoReplyError)) throw error
    })
    this.acceptedMs.push(...test.acceptedResponseMs)
    const { findings, replies: answers, unjudgedReason } = test
    const milliseconds = clock.monotonic() - startedAt
    return caseReport(receiverCase, { findings, answers, milliseconds, unjudgedReason }, strict)
  }

  /**
   * Restarts the receiver. A program that this check started is killed first; otherwise the user's command kills the
   * receiver.
   */
  async #restart(): Promise<void> {
    const { startReceiver, signal, clock } = this.#options
    if (startReceiver === undefined) throw new InternalError('no command to restart the receiver with')
    const runningProgram = this.#program
    runningProgram?.kill()
    // If the command ended with exit code 0, the receiver runs in the background.
    const wasStartedHere = runningProgram !== undefined && (await runningProgram.ended).code !== 0
    const program = startReceiver()
    this.#program = program
    if (!wasStartedHere) {
      const commandEndController = new AbortController()
      const timeout = clock
        .sleep(
          maxRestartMs,
          AbortSignal.any([commandEndController.signal, ...(signal === undefined ? [] : [signal])]),
        )
        .then(() => 'late' as const)
      const result = await Promise.race([program.ended, timeout]).finally(() => {
        commandEndController.abort()
        timeout.catch(() => undefined)
      })
      if (result === 'late') {
        program.kill()
        throw new UsageError(
          `--restart: the command did not end within ${maxRestartMs / 1000} s. Where the receiver already runs, it has to kill the receiver, start it in the background, and end`,
        )
      }
    }
    await this.#waitUntilReached(program)
  }

  /**
   * Waits until the receiver responds. Throws UsageError if the command that starts it fails, and UnavailableError if
   * the receiver takes too long.
   */
  async #waitUntilReached(program: StartedProgram): Promise<void> {
    const { clock, signal } = this.#options
    const startedAt = clock.monotonic()
    let ended: ProgramRun | undefined
    void program.ended.then((run) => (ended = run))
    for (;;) {
      signal?.throwIfAborted()
      const reply = await this.#probe()
      if (ended !== undefined && ended.code !== 0) {
        const { code, failure } = ended
        throw new UsageError(`--restart: ${failure ?? `the command ended with exit code ${code}`}`, {
          hint:
            code === null
              ? "Give a program and its arguments: --restart 'program argument'"
              : 'Its output is discarded. Run it yourself to see what it prints.',
        })
      }
      if (reply.status !== null && !isGatewayFailure(reply)) return
      if (clock.monotonic() - startedAt > maxRestartMs) {
        const { host } = new URL(this.#options.url)
        throw new UnavailableError(
          `--restart: ${host} does not answer ${maxRestartMs / 1000} s after the command`,
          {
            hint: 'The command has to start the receiver at this URL. Run it yourself to see what it prints.',
          },
        )
      }
      await clock.sleep(restartPollMs, signal)
    }
  }

  /** Sends a GET request, which is no delivery, in order to find out whether a server responds at the URL. */
  #probe(): Promise<Reply> {
    return postEvent({ body: Buffer.alloc(0), signatures: [], method: 'GET' }, this.#options)
  }

  async #post(delivery: Delivery, mayFail: boolean): Promise<Reply> {
    const { signal } = this.#options
    signal?.throwIfAborted()
    if (this.missingReplies >= maxMissingReplies) throw new NoReplyError()
    const reply = await postEvent(delivery, this.#options)
    if (this.deliveries === 0 && !reply.reached) throw createUnreachableError(this.#options.url, reply)
    this.deliveries += 1
    if (reply.status !== null) this.missingReplies = 0
    else if (!mayFail) this.missingReplies += 1
    return reply
  }
}

/** Whether the reply is that of a proxy whose receiver does not run. */
function isGatewayFailure({ status }: Reply): boolean {
  return status !== null && status >= 502 && status <= 504
}

/** Reports late responses to all accepted events; missing responses are reported by the other cases. */
function reportLateness({ acceptedMs }: CheckSession, withinMs: number): CaseReport {
  if (acceptedMs.length === 0) return skipCase(lateCase, 'it accepted nothing')
  const lateCount = acceptedMs.filter((milliseconds) => milliseconds > withinMs).length
  const slowest = (Math.max(...acceptedMs) / 1000).toFixed(1)
  const text = `${lateCount} of ${acceptedMs.length} answers took longer than ${withinMs / 1000} s, the slowest ${slowest} s: store the event, answer, and process it afterwards`
  const findings: RuleFinding[] = lateCount === 0 ? [] : [{ level: 'must', text }]
  return caseReport(lateCase, { findings, answers: [], milliseconds: 0 }, false)
}

function findFailure(
  { counts, passed, cases }: ReceiverReport,
  isAccepting: boolean,
  goodEventReport: CaseReport,
): IncompleteError | undefined {
  if (passed) return undefined
  const status = goodEventReport.answers[0]?.status ?? null
  const hasFound = (finding: string): boolean => goodEventReport.findings.some(({ text }) => text === finding)
  const rewrites = hasFound(rewritesJsonFinding)
  const hasFailed = (id: RegExp): boolean =>
    cases.some((each) => each.verdict === 'failed' && id.test(each.id))
  const hint = hasFound(expectsBase64Finding)
    ? 'It expects the signature in base64. Compare X-Service-Signature with the lowercase hex digest: digest("hex") in Node, hexdigest() in Python.'
    : !isAccepting && !rewrites && status !== null && status >= 400 && status < 500
      ? 'It refuses a valid event. Check that it has the same secret, and that this is the path it listens on.'
      : hasFailed(/^signature-missing$/)
        ? 'It accepts events without a signature. Verify each before you use it, as in: refcheck help webhooks'
        : rewrites || hasFailed(/^bytes-|^body-reformatted/)
          ? 'It does not verify the received bytes. Take the raw body (express.raw, context.req.arrayBuffer, a buffer parser in fastify, request.get_data() in Flask), and parse it afterwards.'
          : 'Each is listed above with the rule of the API document that it breaks.'
  const noun = counts.cases === 1 ? 'case' : 'cases'
  return new IncompleteError(`the receiver failed ${counts.failed} of ${counts.cases} ${noun}`, { hint })
}

/** Throws UsageError for a name that matches no case. */
function requireKnownCases(only: readonly string[]): void {
  const ids = [goodEventCase, ...otherCases, lateCase].map(({ id }) => id)
  const unknownName = only.find((name) => !ids.some((id) => matchesName(id, name)))
  if (unknownName === undefined) return
  throw new UsageError(`--only: no case named "${unknownName}"`, { hint: `Cases: ${ids.join(', ')}` })
}

function matchesName(id: string, name: string): boolean {
  return id === name || id.startsWith(`${name}-`)
}
