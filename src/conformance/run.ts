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
import { type Control, createDeploymentClock, type Target } from './target.ts'
import { Probe, type CaseContext } from './case-context.ts'
import { Receiver } from './receiver.ts'
import { untestableRules, suite } from './suite.ts'

export interface ConformanceOptions {
  http: HttpClient
  clock: Clock
  target: Target
  /** Whether the suite may create requests. If not, the rules that need an order are not tested. */
  allowCreate?: boolean | undefined
  control?: Control | undefined
  /**
   * Port for events. Port 0, which means any free port, is useful only if `control` can set the webhook URL.
   */
  receivePort?: number | undefined
  /** Maximum number of milliseconds for which a request is followed with the real clock; default a minute. */
  watchMs?: number | undefined
  /** Returns true for the cases that run; default all. */
  isSelected?: ((each: Case) => boolean) | undefined
  signal?: AbortSignal | undefined
  /** Called after each case. */
  onCase?: ((result: CaseResult, doneCount: number, totalCount: number) => void) | undefined
  /** Maximum number of milliseconds that all waits for the quota may take; default no limit. */
  waitBudgetMs?: number | undefined
  /** Called before each wait after a throttled call. */
  onWait?: ((seconds: number) => void) | undefined
}

const defaultWatchMs = 60_000
/** Maximum number of findings, and of lines of advice, in the result of a case. */
const maxFindings = 8

/**
 * Tests a deployment against all rules of the document. Throws if no rule can be tested: an UnavailableError
 * if the deployment does not respond, an UnauthenticatedError if it refuses the key, and a ForbiddenError if
 * it refuses the user. If the wait for the quota exceeds the limit, the remaining rules are not tested and
 * `halted` is the reason.
 */
export async function runConformance(
  options: ConformanceOptions,
): Promise<ConformanceReport & { halted: ThrottledError | undefined }> {
  const { target, isSelected = () => true, control = {} } = options
  const secrets = collectSecrets(target)
  const receiver = options.receivePort === undefined ? undefined : new Receiver(secrets)
  await receiver?.start(options.receivePort)
  try {
    if (receiver !== undefined) await control.setWebhookUrl?.(receiver.url)
    const context = createContext(options, control, secrets, receiver)
    await requireAccess(context)
    const selectedCases = suite.filter(isSelected)
    const cases: CaseResult[] = []
    let halted: ThrottledError | undefined
    for (const each of selectedCases) {
      const outcome = halted ?? (await runCase(each, context, options.signal))
      if (outcome instanceof ThrottledError) halted = outcome
      const result =
        outcome instanceof ThrottledError
          ? createResult(each, 'not_judged', { reason: `${outcome.message}: wait for longer with --timeout` })
          : outcome
      cases.push(result)
      options.onCase?.(result, cases.length, selectedCases.length)
    }
    return {
      base_url: target.baseUrl,
      counts: countVerdicts(cases),
      cases,
      cannot_be_judged: untestableRules,
      halted,
    }
  } finally {
    await receiver?.close()
  }
}

function createContext(
  options: ConformanceOptions,
  control: Control,
  secrets: Secrets,
  receiver: Receiver | undefined,
): CaseContext {
  const { http, clock, target, signal, waitBudgetMs, onWait } = options
  const deploymentClock = createDeploymentClock(control, clock, signal)
  if (receiver !== undefined) receiver.now = () => deploymentClock.now()
  const resultsByName = new Map<string, Promise<unknown>>()
  return {
    probe: new Probe({ http, target, secrets, deploymentClock, signal, waitBudgetMs, onWait }),
    deploymentClock,
    target,
    control,
    receiver,
    canCreate: options.allowCreate === true,
    watchMs: options.watchMs ?? defaultWatchMs,
    once<T>(name: string, make: () => Promise<T>): Promise<T> {
      const earlierResult = resultsByName.get(name)
      if (earlierResult !== undefined) return earlierResult as Promise<T>
      const result = make()
      resultsByName.set(name, result)
      return result
    },
  }
}

/** Throws an error unless the service responds and accepts the key and the user. */
async function requireAccess({ probe }: CaseContext): Promise<void> {
  // Without a key and a user: /v1/ping needs neither.
  await probe.get('/v1/ping', { identity: {} })
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

function createResult(
  { id, section, rule, kind }: Case,
  verdict: CaseResult['verdict'],
  details: Partial<CaseResult> = {},
): CaseResult {
  return { id, section, rule, kind, verdict, findings: [], advice: [], reason: null, ...details }
}

/** Returns the result of a case; a ThrottledError, which ends the run, if the wait for the quota would be too long. */
async function runCase(
  each: Case,
  context: CaseContext,
  signal: AbortSignal | undefined,
): Promise<CaseResult | ThrottledError> {
  try {
    const { findings, advice } = separateAdvice(await each.run(context))
    return createResult(each, findings.length === 0 ? 'holds' : 'broken', {
      findings: limitLines(findings),
      advice: limitLines(advice),
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ThrottledError) return error
    if (error instanceof NotTestableError) return createResult(each, 'not_judged', { reason: error.message })
    if (error instanceof TransportError)
      return createResult(each, 'broken', { findings: [`the answer was incomplete: ${error.message}`] })
    throw error
  }
}

/**
 * Returns at most `maxFindings` lines. If there are more, a line with the number of omitted lines is added.
 */
function limitLines(lines: string[]): string[] {
  const omittedCount = lines.length - maxFindings
  return omittedCount > 0 ? [...lines.slice(0, maxFindings), `and ${omittedCount} more`] : lines
}

/**
 * Returns the secrets that a deployment may send back and that must not be shown, including the shortened key
 * that a case sends.
 */
function collectSecrets({ apiKey, webhookSecret, foreignUser }: Target): Secrets {
  const secrets = new Secrets()
  secrets.add('API key', apiKey)
  secrets.add('API key', apiKey.slice(0, -1))
  secrets.add('API key', foreignUser?.apiKey)
  secrets.add('webhook secret', webhookSecret)
  // The key or the secret of a test deployment may be an ordinary word.
  return secrets.includingOrdinaryWords()
}

function countVerdicts(cases: readonly CaseResult[]): ConformanceReport['counts'] {
  const countOf = (verdict: CaseResult['verdict']): number =>
    cases.filter((each) => each.verdict === verdict).length
  return {
    cases: cases.length,
    holds: countOf('holds'),
    broken: countOf('broken'),
    not_judged: countOf('not_judged'),
    advised: cases.filter(({ advice }) => advice.length > 0).length,
  }
}
