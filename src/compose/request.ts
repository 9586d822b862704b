import type { Scope } from '../cli/scope.ts'
import type { Package } from '../contract/package.ts'
import type { RequestResource } from '../contract/request.ts'
import { checksText } from '../domain/request/check-counts.ts'
import { countInWords } from '../domain/wording/count-in-words.ts'
import { RefcheckError } from '../errors/base.ts'
import type { UnavailableError } from '../errors/kinds.ts'
import { progressLine } from '../output/bar.ts'
import { createEventText } from '../output/views/notices.ts'
import { announceInFlight } from '../usecases/request/announce-in-flight.ts'
import { lookForOrder } from '../usecases/request/look.ts'
import { SimilarQuestion } from '../usecases/request/similar-question.ts'
import type { OrderPorts } from '../usecases/request/ports.ts'
import { knownAccount } from './account.ts'
import { api, budgetMs, governor, patientApi } from './api.ts'
import { schemas } from './schemas.ts'
import { session } from './session.ts'
import { store } from './store.ts'

/** A wait for the quota that is worth a word, in seconds. */
const longPause = 5

/** What placing an order needs. */
export async function orderPorts(scope: Scope, signal: AbortSignal): Promise<OrderPorts> {
  const { clock, random } = scope.context
  // Loaded before anything is journaled: the program may be replaced under a long run.
  await Promise.all([import('../api/endpoints/requests.ts'), import('../api/endpoints/schemas.ts')])
  return {
    api: announceInFlight(await api(scope), signal, scope.note),
    ledger: (await store(scope)).ledger,
    account: await knownAccount(scope),
    governor: await governor(scope),
    clock,
    random,
    signal,
    onEvent: (event) => scope.note(createEventText(event)),
  }
}

/** Asks about somebody similar; `guard`: what the flags allow. */
export function similarQuestion(
  scope: Scope,
  signal: AbortSignal,
  guard: { allowDuplicate: boolean; allowSimilar: boolean },
): SimilarQuestion {
  return new SimilarQuestion(scope.prompter(), async (order) =>
    lookForOrder(await orderPorts(scope, signal), order, guard),
  )
}

/** What an order needs that may be waited for, its report too. */
export async function orderingAndFollowing(scope: Scope, signal: AbortSignal) {
  return {
    ...(await orderPorts(scope, signal)),
    inbox: (await store(scope)).inbox,
    cache: await schemas(scope),
    patientApi: await patientApi(scope),
    waitBudgetMs: await budgetMs(scope),
    onStatus: statusNote(scope),
  }
}

/** Keeps which packages are gone, each with its likely successor, for comparing. */
export const keepSuccessions =
  (scope: Scope) =>
  async (packages: readonly Package[]): Promise<void> => {
    const { successions } = await import('../domain/batch/succession.ts')
    const { waiting } = await store(scope)
    const { baseUrl } = await api(scope)
    await waiting.linkPackages(baseUrl, successions(packages), scope.context.clock.now())
  }

/** What following requests needs: a share of the quota, the inbox, and somewhere to tell of it. */
export async function following(scope: Scope) {
  return {
    clock: scope.context.clock,
    governor: await governor(scope),
    inbox: (await store(scope)).inbox,
    onStatus: statusNote(scope),
    onTrouble: (error: UnavailableError, seconds: number) =>
      scope.note(`${error.message}; retrying in ${seconds} s`),
    onPaced: pauseNote(scope),
  }
}

/** The same for a wait of so many, which is shown as it goes on. `kept`: when all that was read is in the store. */
export async function watching(scope: Scope, total: number) {
  const [{ WaitMeter }, parts] = await Promise.all([import('../output/wait-meter.ts'), following(scope)])
  const meter = new WaitMeter(scope.reporter, total)
  const { ledger } = await store(scope)
  const { baseUrl } = await session(scope)
  const records: Promise<void>[] = []
  const known = new Map<string, string>()
  return {
    ...parts,
    onRest: meter.onRest,
    onPaced: scope.reporter.isLive ? meter.onRest : parts.onPaced,
    onStatus: meter.onStatus,
    onRead: ({ request_id: id, status, checks: read }: RequestResource): void => {
      const checks = checksText(read)
      if (known.get(id) === `${status} ${checks}`) return
      known.set(id, `${status} ${checks}`)
      // A store that cannot be written to is no fault of the wait.
      const at = scope.context.clock.now()
      records.push(ledger.recordStatus(baseUrl, id, status, at, checks).catch(() => undefined))
    },
    kept: async (): Promise<void> => void (await Promise.all(records)),
  }
}

/** How far reading again has come. */
export function readMeter(scope: Scope): (done: number, total: number) => void {
  const progress = scope.progress()
  return (done, total) =>
    progress.show(progressLine(done / total, `${done} of ${countInWords(total, 'request')} read`))
}

/** Keeps at the end, where the answer is out, what was read of orders of this store. */
export function keepReads(scope: Scope, baseUrl: string, requests: readonly RequestResource[]): void {
  scope.onSettle(async () => {
    try {
      const { ledger } = await store(scope)
      for (const { request_id: id, status, checks } of requests)
        await ledger.recordStatus(baseUrl, id, status, scope.context.clock.now(), checksText(checks))
    } catch (error) {
      // A store that cannot be used is no fault of the read.
      if (!(error instanceof RefcheckError)) throw error
    }
  })
}

/** Tells of a read that waits, if it is long. */
export const pauseNote =
  (scope: Scope) =>
  (seconds: number): void => {
    if (seconds > longPause)
      scope.note(`The next read is in ${Math.ceil(seconds)} s, to stay within the quota.`)
  }

const statusNote =
  (scope: Scope) =>
  ({ request_id, status }: Pick<RequestResource, 'request_id' | 'status'>): void =>
    scope.note(`${request_id}  ${status}`)
