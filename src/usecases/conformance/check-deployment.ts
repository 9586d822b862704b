import { parseWindows } from '../../domain/quota/windows.ts'
import { resolveSession, type SessionSources } from '../session/resolve.ts'
import { IncompleteError, type ThrottledError, UsageError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import type { CaseResult, ConformanceReport } from '../../conformance/case.ts'
import { runConformance } from '../../conformance/run.ts'
import { connectToSandbox } from '../../conformance/sandbox-control.ts'
import { suite } from '../../conformance/suite.ts'
import type { QuotaWindow, Target } from '../../conformance/target.ts'
import type { Services } from '../services.ts'
import { fromEnvironment } from '../session/chosen-profile.ts'
import { resolveWebhookSecret } from '../session/webhook-secret.ts'

export interface ConformanceOptions {
  /** Base URL of the service; by default that of the profile or the environment. */
  baseUrl: string | undefined
  /** E-mails of further users of the organisation, as in `Target`. */
  secondEmail: string | undefined
  noCreateEmail: string | undefined
  inactiveEmail: string | undefined
  /** E-mail of a user of another organisation, whose key comes from the environment. */
  foreignEmail: string | undefined
  recipients: NonNullable<Target['recipients']>
  /** Whether the suite may send orders. */
  allowCreate: boolean
  /**
   * Whether the service is a sandbox of this machine that the suite may control; its state is restored at the end.
   */
  control: boolean
  useUpQuota: boolean
  /** The port on which the suite receives the deployment's events; without it, these rules are not tested. */
  webhookPort: number | undefined
  /** Time in milliseconds for which a request is followed. */
  watchMs: number | undefined
  /** Maximum time in milliseconds for waits on the quota. */
  waitBudgetMs: number | undefined
  /** Topics or ids of cases; empty for all. */
  only: readonly string[]
  signal: AbortSignal
}

/** The quota that the API document states. */
const documentedQuota: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

export interface ConformanceResult {
  report: ConformanceReport
  /** Set if a rule is broken, or if the quota was used up before all rules were judged. */
  failure: IncompleteError | ThrottledError | undefined
}

/**
 * The services of the suite. The webhook secret and the keys of other users come from the profile and the
 * environment.
 */
export type ConformanceServices = SessionSources & Pick<Services, 'http' | 'clock' | 'reporter'>

/** Runs the conformance suite on the service of the current profile. */
export async function checkDeployment(
  services: ConformanceServices,
  options: ConformanceOptions,
): Promise<ConformanceResult> {
  const { http, clock, env, reporter } = services
  const {
    allowCreate,
    control: isControlled,
    useUpQuota,
    webhookPort,
    watchMs,
    waitBudgetMs,
    signal,
  } = options
  const isSelected = createCaseFilter(options.only)
  const target = await resolveTarget(services, options)
  const control = isControlled
    ? await connectToSandbox(http, target, fromEnvironment(env, 'REFCHECK_SANDBOX_TOKEN'))
    : undefined
  try {
    const { halted, ...report } = await runConformance({
      http,
      clock,
      target: {
        ...control?.knownTarget,
        ...withoutUndefined(target),
        recipients: { ...control?.knownTarget.recipients, ...withoutUndefined(options.recipients) },
        quota: useUpQuota ? findQuotaWindows(target.baseUrl, env) : control?.knownTarget.quota,
      },
      control,
      allowCreate,
      receivePort: webhookPort ?? (isControlled ? 0 : undefined),
      watchMs,
      waitBudgetMs,
      isSelected,
      signal,
      onCase: ({ id }, doneCount, totalCount) => reporter.status(`${doneCount}/${totalCount} ${id}`),
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

/**
 * Returns the target of the suite. resolveSession ensures that a stored key is sent only to the origin that it was
 * saved for.
 */
async function resolveTarget(
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
    throw baseUrl === undefined ? error : asFlagError(error)
  })
  return {
    baseUrl: session.baseUrl,
    apiKey: session.apiKey,
    userEmail: session.email,
    secondEmail,
    noCreateEmail,
    inactiveEmail,
    webhookSecret: await findWebhookSecret(sources),
    foreignUser:
      foreignEmail === undefined || foreignKey === undefined
        ? undefined
        : { apiKey: foreignKey, userEmail: foreignEmail },
  }
}

/** Removes undefined values, so that they do not override others when the objects are merged. */
function withoutUndefined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Rewrites an error about REFCHECK_BASE_URL to name `--base-url`, whose value was passed in this variable. */
function asFlagError(error: unknown): unknown {
  if (!(error instanceof UsageError) || !error.message.startsWith('REFCHECK_BASE_URL')) return error
  return new UsageError(error.message.replace('REFCHECK_BASE_URL', '--base-url'), {
    hint: error.hint?.includes('REFCHECK_BASE_URL')
      ? 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL for it, or leave out --base-url.'
      : error.hint,
  })
}

/** Returns the quota that the suite uses up. A deployment on this machine may have another one than documented. */
function findQuotaWindows(baseUrl: string, env: SessionSources['env']): readonly QuotaWindow[] {
  const text = isLoopbackUrl(baseUrl) ? env['REFCHECK_QUOTA'] : undefined
  return text === undefined || text === '' ? documentedQuota : parseWindows(text, 'REFCHECK_QUOTA')
}

function createCaseFilter(only: readonly string[]): ((each: Pick<CaseResult, 'id'>) => boolean) | undefined {
  const knownNames = suite.flatMap(({ id }) => [id, id.split('.')[0] ?? id])
  const unknownName = only.find((name) => !knownNames.includes(name))
  if (unknownName !== undefined) {
    throw new UsageError(`--only: no case or topic named "${unknownName}"`, {
      hint: `Topics: ${[...new Set(knownNames.filter((name) => !name.includes('.')))].join(', ')}`,
    })
  }
  if (only.length === 0) return undefined
  return ({ id }) => only.includes(id) || only.includes(id.split('.')[0] ?? id)
}

/** Returns the webhook secret; undefined if none is set. */
async function findWebhookSecret(sources: SessionSources): Promise<string | undefined> {
  try {
    return (await resolveWebhookSecret(sources)).secret
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}
