import { isUnfinished } from '../contract/statuses.ts'
import { join, resolve } from 'node:path'

import type { App } from './app.ts'
import { serviceOf } from '../domain/submission/identity.ts'
import { NotFoundError, RefcheckError, UnauthenticatedError, UsageError } from '../errors/kinds.ts'
import type { QuotaStatus } from '../output/views/overview.ts'
import type { OverviewScope, People } from '../usecases/overview/read.ts'
import { requestIdStart } from '../domain/request/id-start.ts'
import type { Prompter } from '../prompt/prompter.ts'
import { resolveRequestId, completeRequestId } from './ids.ts'
import type { Batch } from '../domain/batch/batch.ts'
import type { Overview } from '../domain/overview/overview.ts'
import type { SubmissionState } from '../domain/submission/states.ts'

/** Returns the windows of the current key's quota; undefined if no profile is logged in. */
export async function quotaInUse(app: App): Promise<QuotaStatus | undefined> {
  try {
    return await (await app.service('governor')).status()
  } catch (error) {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  }
}

/** Returns the account of new orders and the organisation of the current profile, whose orders are shown. */
export async function overviewScope(app: App): Promise<OverviewScope> {
  const account = await app.accountInUse()
  try {
    const session = await app.service('session')
    const { profile = null, baseUrl, email } = session
    return { organisation: { profile, base_url: baseUrl, user_email: email }, account }
  } catch (error) {
    if (error instanceof UnauthenticatedError) return { organisation: undefined, account }
    throw error
  }
}

/**
 * Returns the number of requests that events name, that this store did not order and that were not read yet; 0 if no
 * profile is logged in.
 */
export async function countUnread(app: App): Promise<number> {
  const { organisation } = await overviewScope(app)
  if (organisation === undefined) return 0
  const services = await app.services('governor', 'inbox', 'ledger', 'unmatched')
  const { base_url: baseUrl, user_email: userEmail } = organisation
  const ids = await services.inbox.listUnmatchedIds(baseUrl)
  if (ids.length === 0) return 0
  const { findUnread } = await import('../usecases/request/read-requests.ts')
  return (await findUnread({ ...services, api: { baseUrl, userEmail } }, ids)).length
}

/**
 * Acknowledges finished requests, named by their ids or the start of them, in a terminal also by a person. If one of
 * them is refused, none is acknowledged.
 */
export async function markAsDone(
  app: App,
  typedIds: readonly string[],
  baseUrl: string | undefined,
  prompter: Prompter | undefined,
): Promise<void> {
  const { ledger, clock } = await app.services('ledger', 'clock')
  const ids: string[] = []
  for (const each of typedIds) {
    const id =
      baseUrl === undefined
        ? await completeRequestId(app, requestIdStart(each, '--done'))
        : await resolveRequestId(app, each, prompter, '--done')
    const order = (await ledger.list({ requestId: id })).find(
      (row) => baseUrl === undefined || serviceOf(row.baseUrl) === serviceOf(baseUrl),
    )
    if (order === undefined) {
      throw new NotFoundError(`request ${id} was not ordered with this store`, {
        hint: 'List the requests with: refcheck request list',
      })
    }
    const { requestStatus = 'RECEIVED' } = order
    if (isUnfinished(requestStatus)) {
      throw new UsageError(`--done: request ${id} is not finished: ${requestStatus}`, {
        hint: `Read it again with: refcheck request get ${id}`,
      })
    }
    ids.push(id)
  }
  for (const id of ids) await ledger.acknowledge(baseUrl, id, clock.now())
}

/**
 * Returns the number of report files of each request, from the manifests of the configured folder and of the other folders
 * into which this machine stored reports; undefined if there is no such folder.
 */
export async function countReportFiles(app: App): Promise<ReadonlyMap<string, number> | undefined> {
  const folder = await app.setting('output-dir')
  // A folder of earlier reports may be damaged or belong to another user; status does not depend on it.
  const ignoreIfUnreadable = (error: unknown): undefined => {
    if (!(error instanceof RefcheckError)) throw error
  }
  const written = (await (await app.service('writtenFiles')).list().catch(ignoreIfUnreadable)) ?? []
  const folders = new Set(written.flatMap(({ kind, path }) => (kind === 'reports' ? path : [])))
  if (folder !== undefined) folders.add(resolve(app.context.cwd, folder))
  if (folders.size === 0) return undefined
  const { manifestName, parseManifest } = await import('../domain/report/record.ts')
  const { readText } = await import('../store/reports/file.ts')
  const { requestKey } = await import('../domain/overview/overview.ts')
  const files = new Map<string, number>()
  for (const path of Array.from(folders, (each) => join(each, manifestName))) {
    const readRecords = async () => {
      const text = await readText(path)
      return text === undefined ? [] : parseManifest(text, path)
    }
    const isConfigured = folder !== undefined && path === join(resolve(app.context.cwd, folder), manifestName)
    const records = isConfigured ? await readRecords() : await readRecords().catch(ignoreIfUnreadable)
    for (const { service, request_id: id } of records ?? []) {
      const key = requestKey(service, id ?? '')
      files.set(key, (files.get(key) ?? 0) + 1)
    }
  }
  return files
}

/** Returns a page about a batch as one file. Modules for pages are loaded only here. */
export async function batchPage(
  app: App,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<Uint8Array> {
  const { readPeopleOfBatch } = await import('../usecases/overview/read.ts')
  const services = await app.services('ledger', 'batches', 'heldRows', 'redactedInbox', 'clock', 'files')
  return renderPage(app, await readPeopleOfBatch(services, batch, states), {
    title: batch.name,
    madeAt: new Date(services.clock.now()).toISOString(),
    facts: [
      ['Batch', batch.id.slice(0, 8)],
      ['Service', new URL(batch.baseUrl).host],
      ['Ordered as', batch.userEmail],
    ],
  })
}

/** Returns a page about every order of an organisation as one file. */
export async function storePage(app: App, overview: Overview, scope: OverviewScope): Promise<Uint8Array> {
  const { readPeopleOfStore } = await import('../usecases/overview/read.ts')
  const people = await readPeopleOfStore(await app.services('ledger', 'batches'), scope, overview.attention)
  const services = [...new Set(people.users.map(({ baseUrl }) => new URL(baseUrl).host))]
  const users = [...new Set(people.users.map(({ userEmail }) => userEmail))]
  return renderPage(app, people, {
    title:
      overview.other_orders.length === 0
        ? 'All checks ordered with this store'
        : 'All checks of this organisation ordered with this store',
    madeAt: overview.read_at,
    facts: [
      [services.length === 1 ? 'Service' : 'Services', services.join(', ') || 'none yet'],
      ['Ordered as', users.join(', ') || 'nobody yet'],
    ],
  })
}

interface PageFacts {
  title: string
  madeAt: string
  facts: (readonly [string, string])[]
}

async function renderPage(
  app: App,
  { people, total, persons, attention, users }: People,
  pageFacts: PageFacts,
): Promise<Uint8Array> {
  const { peoplePage, packageText } = await import('../output/views/people-page.ts')
  const packages = await (await app.service('packageNames')).forUsers(users)
  const peopleWithPackage = people.filter(({ package_id: id }) => id !== null)
  const [first] = peopleWithPackage
  const hasSeveralPackages = peopleWithPackage.some(
    ({ package_id: id, user }) => id !== first?.package_id || user.baseUrl !== first.user.baseUrl,
  )
  const packageFact =
    first === undefined || hasSeveralPackages ? [] : [['Package', packageText(first, packages)] as const]
  const text = await peoplePage({
    ...pageFacts,
    facts: [...packageFact, ...pageFacts.facts],
    people,
    rowCount: total,
    personCount: persons,
    attention,
    packages,
    hasSeveralPackages,
    version: app.options.version,
    repeatFlags: app.repeatFlags,
  })
  return new TextEncoder().encode(app.secrets.redact(text))
}
