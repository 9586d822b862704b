import { ForbiddenError, ThrottledError, UnauthenticatedError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import { Secrets } from '../host/secrets.ts'
import type { HttpClient } from '../http/client.ts'
import { TransportError } from '../http/failure.ts'
import {
  type Case,
  type CaseResult,
  type ConformanceReport,
  NotTestableError,
  separateAdvice,
} from './case.ts'
import { type Control, paceOf, type Target } from './target.ts'
import { Probe, type Visit } from './visit.ts'
import { Receiver } from './receiver.ts'
import { invisible, suite } from './suite.ts'

export interface ConformanceOptions {
  http: HttpClient
  clock: Clock
  target: Target
  /** Without it nothing is ordered, and what needs an order is not judged. */
  allowCreate?: boolean | undefined
  control?: Control | undefined
  /** A port for events; 0 takes a free one, which makes sense only where `control` can point the webhook at it. */
  receivePort?: number | undefined
  /** Milliseconds a request is followed for at most, where time cannot be moved; default a minute. */
  watchMs?: number | undefined
  /** Which cases run; default all. */
  only?: ((each: Case) => boolean) | undefined
  signal?: AbortSignal | undefined
  /** Called after each case. */
  onCase?: ((result: CaseResult, done: number, of: number) => void) | undefined
  /** Milliseconds that waiting for the quota may take altogether; default without limit. */
  waitBudgetMs?: number | undefined
  /** Called before a throttled call is waited for. */
  onWait?: ((seconds: number) => void) | undefined
}

const defaultWatchMs = 60_000
const maxFindings = 8

/**
 * Asks a deployment for every rule of the document. Throws where nothing can be judged at all: it
 * does not answer (UnavailableError), or refuses the key (UnauthenticatedError) or the user
 * (ForbiddenError). Where the quota may not be waited for, the rest is not judged, and `halted` is the reason.
 */
export async function runConformance(
  options: ConformanceOptions,
): Promise<ConformanceReport & { halted: ThrottledError | undefined }> {
  const { target, only = () => true, control = {} } = options
  const secrets = secretsOf(target)
  const receiver = options.receivePort === undefined ? undefined : new Receiver(secrets)
  await receiver?.open(options.receivePort)
  try {
    if (receiver !== undefined) await control.pointWebhook?.(receiver.url)
    const visit = begin(options, control, secrets, receiver)
    await checkReachable(visit)
    const chosen = suite.filter(only)
    const cases: CaseResult[] = []
    let halted: ThrottledError | undefined
    for (const each of chosen) {
      const results =
        halted ?? (await judge(each, visit, options.signal).catch((error: unknown) => throttled(error)))
      if (results instanceof ThrottledError) halted = results
      const result =
        results instanceof ThrottledError
          ? resultOf(each, 'not_judged', { reason: `${results.message}: wait for longer with --timeout` })
          : results
      cases.push(result)
      options.onCase?.(result, cases.length, chosen.length)
    }
    return { base_url: target.baseUrl, counts: counted(cases), cases, cannot_be_judged: invisible, halted }
  } finally {
    await receiver?.close()
  }
}

function begin(
  options: ConformanceOptions,
  control: Control,
  secrets: Secrets,
  receiver: Receiver | undefined,
): Visit {
  const { http, clock, target, signal, waitBudgetMs, onWait } = options
  const pace = paceOf(control, clock, signal)
  if (receiver !== undefined) receiver.now = () => pace.now()
  const made = new Map<string, Promise<unknown>>()
  return {
    probe: new Probe({ http, target, secrets, pace, signal, waitBudgetMs, onWait }),
    pace,
    target,
    control,
    receiver,
    mayCreate: options.allowCreate === true,
    watchMs: options.watchMs ?? defaultWatchMs,
    once<T>(name: string, make: () => Promise<T>): Promise<T> {
      const known = made.get(name)
      if (known !== undefined) return known as Promise<T>
      const coming = make()
      made.set(name, coming)
      return coming
    },
  }
}

/** Whether the service answers, and accepts the key and the user. */
async function checkReachable({ probe }: Visit): Promise<void> {
  await probe.get('/v1/ping', { as: {} })
  const { status, message = '' } = await probe.get('/v1/users')
  const detail = message === '' ? '' : `: ${message}`
  if (status === 401) {
    throw new UnauthenticatedError(`the service refused this key${detail}`, {
      status,
      hint: 'The checks need a valid key and user. Test them with: refcheck auth status',
    })
  }
  if (status === 403) {
    throw new ForbiddenError(`the service refused this user${detail}`, {
      status,
      hint: 'The checks need an active user of the organisation. Test it with: refcheck auth status',
    })
  }
}

/** The quota may not be waited for: what was judged so far remains, and the rest is not judged. */
function throttled(error: unknown): ThrottledError {
  if (error instanceof ThrottledError) return error
  throw error
}

function resultOf(
  { id, section, rule, kind }: Case,
  verdict: CaseResult['verdict'],
  details: Partial<CaseResult> = {},
): CaseResult {
  return { id, section, rule, kind, verdict, findings: [], advice: [], reason: null, ...details }
}

async function judge(each: Case, visit: Visit, signal: AbortSignal | undefined): Promise<CaseResult> {
  const result = (verdict: CaseResult['verdict'], details?: Partial<CaseResult>): CaseResult =>
    resultOf(each, verdict, details)
  try {
    const { findings, advice } = separateAdvice(await each.run(visit))
    const details = { findings: few(findings), advice: few(advice) }
    return result(findings.length === 0 ? 'holds' : 'broken', details)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof NotTestableError) return result('not_judged', { reason: error.message })
    if (error instanceof TransportError)
      return result('broken', { findings: [`the answer was incomplete: ${error.message}`] })
    throw error
  }
}

/** As many as a reader takes in. */
function few(lines: string[]): string[] {
  const more = lines.length - maxFindings
  return more > 0 ? [...lines.slice(0, maxFindings), `and ${more} more`] : lines
}

/** What a deployment may send back to us, which goes no further; also the key as a case changes it, to be refused. */
function secretsOf({ apiKey, webhookSecret, foreignUser }: Target): Secrets {
  const secrets = new Secrets()
  secrets.add('API key', apiKey)
  secrets.add('API key', apiKey.slice(0, -1))
  secrets.add('API key', foreignUser?.apiKey)
  secrets.add('webhook secret', webhookSecret)
  return secrets.withOrdinary()
}

function counted(cases: readonly CaseResult[]): ConformanceReport['counts'] {
  const of = (verdict: CaseResult['verdict']): number =>
    cases.filter((each) => each.verdict === verdict).length
  return {
    cases: cases.length,
    holds: of('holds'),
    broken: of('broken'),
    not_judged: of('not_judged'),
    advised: cases.filter(({ advice }) => advice.length > 0).length,
  }
}
