import { parseWindows } from '../../domain/quota/windows.ts'
import { resolveSession, type SessionSources } from '../session/resolve.ts'
import { IncompleteError, type ThrottledError, UsageError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import type { CaseResult, ConformanceReport } from '../../conformance/case.ts'
import { runConformance } from '../../conformance/run.ts'
import { sandboxControl } from '../../conformance/sandbox-control.ts'
import { suite } from '../../conformance/suite.ts'
import type { QuotaWindow, Target } from '../../conformance/target.ts'
import type { Services } from '../services.ts'
import { fromEnvironment } from '../session/chosen-profile.ts'
import { resolveWebhookSecret } from '../session/webhook-secret.ts'

export interface ConformanceOptions {
  /** Default: the one of the profile or the environment. */
  baseUrl: string | undefined
  secondEmail: string | undefined
  noCreateEmail: string | undefined
  inactiveEmail: string | undefined
  /** A user of another organisation; its key comes from the environment. */
  foreignEmail: string | undefined
  recipients: NonNullable<Target['recipients']>
  allowCreate: boolean
  /** The service is a sandbox of this machine, which may be steered; it is left as it was found. */
  control: boolean
  useUpQuota: boolean
  webhookPort: number | undefined
  /** Milliseconds a request is followed for. */
  watchMs: number | undefined
  /** Milliseconds for waits on the quota. */
  waitBudgetMs: number | undefined
  /** Topics or ids of cases; none stands for all. */
  only: readonly string[]
  signal: AbortSignal
}

/** What the document says of the quota. */
const documented: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

export interface ConformanceResult {
  report: ConformanceReport
  /** Set where a rule is broken, and where the quota ran out before all were judged. */
  failure: IncompleteError | ThrottledError | undefined
}

/** The webhook secret and the keys of others are read from the profile and the environment. */
export type ConformanceServices = SessionSources & Pick<Services, 'http' | 'clock' | 'reporter'>

/** Runs the conformance suite on the service that is in use. */
export async function checkDeployment(
  services: ConformanceServices,
  options: ConformanceOptions,
): Promise<ConformanceResult> {
  const { http, clock, env, reporter } = services
  const { allowCreate, control: steered, useUpQuota, webhookPort, watchMs, waitBudgetMs, signal } = options
  const only = chosen(options.only)
  const target = await targetOf(services, options)
  const control = steered
    ? await sandboxControl(http, target, fromEnvironment(env, 'REFCHECK_SANDBOX_TOKEN'))
    : undefined
  try {
    const { halted, ...report } = await runConformance({
      http,
      clock,
      target: {
        ...control?.known,
        ...given(target),
        recipients: { ...control?.known.recipients, ...given(options.recipients) },
        quota: useUpQuota ? windowsOf(target.baseUrl, env) : control?.known.quota,
      },
      control,
      allowCreate,
      receivePort: webhookPort ?? (steered ? 0 : undefined),
      watchMs,
      waitBudgetMs,
      only,
      signal,
      onCase: ({ id }, done, of) => reporter.status(`${done}/${of} ${id}`),
      onWait: (seconds) => reporter.note(`The quota is used up; continuing in ${seconds} s.`),
    })
    return { report, failure: halted ?? failureOf(report) }
  } finally {
    await control?.restore()
  }
}

function failureOf({ counts: { broken, cases } }: ConformanceReport): IncompleteError | undefined {
  if (broken === 0) return undefined
  const rules = cases === 1 ? 'rule' : 'rules'
  return new IncompleteError(`${broken} of ${cases} ${rules} ${broken === 1 ? 'is' : 'are'} broken`, {
    hint: 'Each is listed above with the rule of the API document that it breaks.',
  })
}

/** A kept key goes to the origin it was saved for and nowhere else; resolveSession sees to it. */
async function targetOf(
  sources: SessionSources,
  { baseUrl, secondEmail, noCreateEmail, inactiveEmail, foreignEmail }: ConformanceOptions,
): Promise<Target> {
  const foreignKey = fromEnvironment(sources.env, 'REFCHECK_FOREIGN_API_KEY')
  if (foreignEmail !== undefined && foreignKey === undefined) {
    throw new UsageError('--foreign-user needs the key of that organisation', {
      hint: 'Set REFCHECK_FOREIGN_API_KEY to it.',
    })
  }
  const env = baseUrl === undefined ? sources.env : { ...sources.env, REFCHECK_BASE_URL: baseUrl }
  const session = await resolveSession({ ...sources, env }).catch((error: unknown) => {
    throw baseUrl === undefined ? error : aboutFlag(error)
  })
  return {
    baseUrl: session.baseUrl,
    apiKey: session.apiKey,
    userEmail: session.email,
    secondEmail,
    noCreateEmail,
    inactiveEmail,
    webhookSecret: await knownWebhookSecret(sources),
    foreignUser:
      foreignEmail === undefined || foreignKey === undefined
        ? undefined
        : { apiKey: foreignKey, userEmail: foreignEmail },
  }
}

/** Without absent values, so that they replace nothing. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** What is said of the variable is meant of the flag that stood in for it. */
function aboutFlag(error: unknown): unknown {
  if (!(error instanceof UsageError) || !error.message.startsWith('REFCHECK_BASE_URL')) return error
  return new UsageError(error.message.replace('REFCHECK_BASE_URL', '--base-url'), {
    hint: error.hint?.includes('REFCHECK_BASE_URL')
      ? 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL for it, or leave out --base-url.'
      : error.hint,
  })
}

function windowsOf(baseUrl: string, env: SessionSources['env']): readonly QuotaWindow[] {
  const text = isLoopbackUrl(baseUrl) ? env['REFCHECK_QUOTA'] : undefined
  return text === undefined || text === '' ? documented : parseWindows(text, 'REFCHECK_QUOTA')
}

function chosen(only: readonly string[]): ((each: Pick<CaseResult, 'id'>) => boolean) | undefined {
  const known = suite.flatMap(({ id }) => [id, id.split('.')[0] ?? id])
  const unknown = only.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`--only: no case or topic named "${unknown}"`, {
      hint: `Topics: ${[...new Set(known.filter((name) => !name.includes('.')))].join(', ')}`,
    })
  }
  if (only.length === 0) return undefined
  return ({ id }) => only.includes(id) || only.includes(id.split('.')[0] ?? id)
}

/** Undefined where none is known. */
async function knownWebhookSecret(sources: SessionSources): Promise<string | undefined> {
  try {
    return (await resolveWebhookSecret(sources)).secret
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}
