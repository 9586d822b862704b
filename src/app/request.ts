import type { App } from './app.ts'
import type { Package } from '../contract/package.ts'
import type { RequestResource } from '../contract/request.ts'
import { checksText } from '../domain/request/check-counts.ts'
import { countInWords } from '../domain/wording/count-in-words.ts'
import { RefcheckError } from '../errors/base.ts'
import type { UnavailableError } from '../errors/kinds.ts'
import { progressLine } from '../output/bar.ts'
import { createEventText } from '../output/views/notices.ts'
import { announceInFlight, type OrderPorts } from '../usecases/request/send.ts'
import { lookForOrder, SimilarQuestion } from '../usecases/request/create.ts'

/** A wait for the quota that is worth a word, in seconds. */
const longPause = 5

/** What placing an order needs. */
export async function orderPorts(app: App, signal: AbortSignal): Promise<OrderPorts> {
  const { clock, random } = app.context
  return {
    api: announceInFlight((await app.services('api')).api, signal, app.note),
    ledger: (await app.services('ledger')).ledger,
    account: (await app.services('account')).account,
    governor: (await app.services('governor')).governor,
    clock,
    random,
    signal,
    onEvent: (event) => app.note(createEventText(event)),
  }
}

/** Asks about somebody similar; `guard`: what the flags allow. */
export function similarQuestion(
  app: App,
  signal: AbortSignal,
  guard: { allowDuplicate: boolean; allowSimilar: boolean },
): SimilarQuestion {
  return new SimilarQuestion(app.prompter(), async (order) =>
    lookForOrder(await orderPorts(app, signal), order, guard),
  )
}

/** What an order needs that may be waited for, its report too. */
export async function orderingAndFollowing(app: App, signal: AbortSignal) {
  return {
    ...(await orderPorts(app, signal)),
    inbox: (await app.services('inbox')).inbox,
    cache: (await app.services('schemas')).schemas,
    patientApi: (await app.services('patientApi')).patientApi,
    waitBudgetMs: (await app.services('budgetMs')).budgetMs,
    onStatus: statusNote(app),
  }
}

/** Keeps which packages are gone, each with its likely successor, for comparing. */
export const keepSuccessions =
  (app: App) =>
  async (packages: readonly Package[]): Promise<void> => {
    const { successions } = await import('../domain/batch/succession.ts')
    const { waiting } = await app.services('waiting')
    const {
      api: { baseUrl },
    } = await app.services('api')
    await waiting.linkPackages(baseUrl, successions(packages), app.context.clock.now())
  }

/** What following requests needs: a share of the quota, the inbox, and somewhere to tell of it. */
export async function following(app: App) {
  return {
    clock: app.context.clock,
    governor: (await app.services('governor')).governor,
    inbox: (await app.services('inbox')).inbox,
    onStatus: statusNote(app),
    onTrouble: (error: UnavailableError, seconds: number) =>
      app.note(`${error.message}; retrying in ${seconds} s`),
    onPaced: pauseNote(app),
  }
}

/** The same for a wait of so many, which is shown as it goes on. `kept`: when all that was read is in the store. */
export async function watching(app: App, total: number) {
  const [{ WaitMeter }, parts] = await Promise.all([import('../output/wait-meter.ts'), following(app)])
  const meter = new WaitMeter(app.reporter, total)
  const { ledger } = await app.services('ledger')
  const {
    session: { baseUrl },
  } = await app.services('session')
  const records: Promise<void>[] = []
  const known = new Map<string, string>()
  return {
    ...parts,
    onRest: meter.onRest,
    onPaced: app.reporter.isLive ? meter.onRest : parts.onPaced,
    onStatus: meter.onStatus,
    onRead: ({ request_id: id, status, checks: read }: RequestResource): void => {
      const checks = checksText(read)
      if (known.get(id) === `${status} ${checks}`) return
      known.set(id, `${status} ${checks}`)
      // A store that cannot be written to is no fault of the wait.
      const at = app.context.clock.now()
      records.push(ledger.recordStatus(baseUrl, id, status, at, checks).catch(() => undefined))
    },
    kept: async (): Promise<void> => void (await Promise.all(records)),
  }
}

/** How far reading again has come. */
export function readMeter(app: App): (done: number, total: number) => void {
  const progress = app.progress()
  return (done, total) =>
    progress.show(progressLine(done / total, `${done} of ${countInWords(total, 'request')} read`))
}

/** Keeps at the end, where the answer is out, what was read of orders of this store. */
export function keepReads(app: App, baseUrl: string, requests: readonly RequestResource[]): void {
  app.onSettle(async () => {
    try {
      const { ledger } = await app.services('ledger')
      for (const { request_id: id, status, checks } of requests)
        await ledger.recordStatus(baseUrl, id, status, app.context.clock.now(), checksText(checks))
    } catch (error) {
      // A store that cannot be used is no fault of the read.
      if (!(error instanceof RefcheckError)) throw error
    }
  })
}

/** Tells of a read that waits, if it is long. */
export const pauseNote =
  (app: App) =>
  (seconds: number): void => {
    if (seconds > longPause)
      app.note(`The next read is in ${Math.ceil(seconds)} s, to stay within the quota.`)
  }

const statusNote =
  (app: App) =>
  ({ request_id, status }: Pick<RequestResource, 'request_id' | 'status'>): void =>
    app.note(`${request_id}  ${status}`)
