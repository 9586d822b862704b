import type { Api } from '../api/api.ts'
import { defaultTimeoutMs, parseDuration } from '../cli/flags/duration.ts'
import { once, type Scope } from '../cli/scope.ts'
import type { Credentials } from '../domain/session/session.ts'
import { UnauthenticatedError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'
import { retryNoticeText } from '../output/views/notices.ts'
import type { Governor } from '../usecases/quota/governor.ts'
import { http } from './http.ts'
import { governorOf, quotaWindows } from './quota.ts'
import { session, sessionSources, setting } from './session.ts'
import { usage } from './usage.ts'

/** The service as the chosen profile or the environment says. */
export const api = once(async (scope: Scope): Promise<Api> => connected(scope, scope.options.timeoutMs))

/** The same for waits, whose reads may wait out the quota as long as it takes. */
export function patientApi(scope: Scope): Promise<Api> {
  return connected(scope, Number.POSITIVE_INFINITY)
}

/** For ping: no key, no user. */
export async function publicApi(scope: Scope): Promise<Api> {
  const { resolveBaseUrl } = await import('../usecases/session/resolve.ts')
  const baseUrl = await resolveBaseUrl(await sessionSources(scope))
  return connect(scope, baseUrl, undefined, await budgetMs(scope))
}

/** Makes the API of credentials that are not saved yet. */
export async function connector(scope: Scope): Promise<(credentials: Credentials) => Api> {
  const budget = await budgetMs(scope)
  const [{ connectApi }, client] = await Promise.all([import('../api/service.ts'), http(scope)])
  return ({ baseUrl, apiKey, email }) => {
    usage(scope).of(baseUrl, apiKey)
    scope.secrets.add('API key', apiKey)
    const credentials = { apiKey, userEmail: email }
    return connectApi({ ...options(scope, client, budget), baseUrl, credentials })
  }
}

/** Calls what needs no key at a base URL that is not saved yet. */
export async function reacher(
  scope: Scope,
  signal: AbortSignal,
): Promise<(baseUrl: string) => Promise<void>> {
  const budget = await budgetMs(scope)
  return async (baseUrl) => {
    await (await connect(scope, baseUrl, undefined, budget)).ping(signal)
  }
}

/** Who may call next with the key in use. */
export async function governor(scope: Scope): Promise<Governor> {
  const { baseUrl, apiKey } = await session(scope)
  return usage(scope).through(await governorOf(scope, baseUrl, apiKey))
}

/** Seconds until so many more are sent, by the quota: of the key in use where it is of that service, else of any key. */
export async function timeToSend(
  scope: Scope,
  baseUrl: string,
): Promise<(creates: number) => Promise<number>> {
  const windows = await quotaWindows(scope, baseUrl)
  const own = await session(scope).catch((error: unknown) => {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  })
  if (own?.baseUrl !== baseUrl) {
    const { secondsForCreates } = await import('../domain/quota/eta.ts')
    const { emptyBook } = await import('../domain/quota/book.ts')
    return async (creates) => secondsForCreates(emptyBook(windows), creates, scope.context.clock.now())
  }
  const pace = await governorOf(scope, own.baseUrl, own.apiKey)
  return async (creates) => {
    // Others run the batch: what they have used stands in the store.
    await pace.standing()
    return pace.secondsFor(creates)
  }
}

/** Milliseconds that retries and waits on a 429 may take together. */
export async function budgetMs(scope: Scope): Promise<number> {
  if (scope.options.timeoutMs !== undefined) return scope.options.timeoutMs
  const kept = await setting(scope, 'timeout')
  return (kept === undefined ? undefined : parseDuration(kept)) ?? defaultTimeoutMs
}

async function connected(scope: Scope, budget: number | undefined): Promise<Api> {
  const { baseUrl, apiKey, email } = await session(scope)
  usage(scope).of(baseUrl, apiKey)
  return connect(scope, baseUrl, { apiKey, userEmail: email }, budget ?? (await budgetMs(scope)))
}

async function connect(
  scope: Scope,
  baseUrl: string,
  credentials: { apiKey: string; userEmail: string } | undefined,
  budget: number,
): Promise<Api> {
  const [{ connectApi }, client] = await Promise.all([import('../api/service.ts'), http(scope)])
  return connectApi({ ...options(scope, client, budget), baseUrl, credentials })
}

function options(scope: Scope, client: HttpClient, budget: number) {
  const { clock, random } = scope.context
  return {
    http: client,
    clock,
    random,
    secrets: scope.secrets,
    budgetMs: budget,
    onNotice: (notice: Parameters<typeof retryNoticeText>[0]) => scope.note(retryNoticeText(notice)),
    onThrottled: (seconds: number, understood: boolean) => usage(scope).throttled(seconds, understood),
  }
}
