import { join, resolve } from 'node:path'

import type { App } from './app.ts'
import { type Orderer, ordererOf } from '../domain/batch/run-policy.ts'
import type { WorkerEvent } from '../domain/worker/events.ts'
import { isMissing } from '../domain/report/filed.ts'
import { RefcheckError } from '../errors/base.ts'
import { UsageError } from '../errors/kinds.ts'
import { startBatch } from '../usecases/batch/start.ts'
import type { ListedRequest } from '../domain/request/listed-request.ts'
import { readAgain, unfinishedRequests } from '../usecases/request/read-requests.ts'
import type { WorkerProfile } from '../usecases/worker/work.ts'
import { startServices } from './batch.ts'
import { fileReports } from './report.ts'
import { following } from './request.ts'

export interface WorkerChoices {
  /** Undefined for the one in use; `all`, or names with commas between them. */
  profiles: string | undefined
  /** A folder for reports; one below it for each of several profiles. */
  output: string | undefined
  signal: AbortSignal
  onEvent: (event: WorkerEvent) => void
}

/** A profile with what belongs to it alone. */
interface Member extends Orderer {
  app: App
}

/** Every profile that can be used, on one store and with its own key, quota and account. At least one. */
export async function workerProfiles(app: App, choices: WorkerChoices): Promise<WorkerProfile[]> {
  await app.services('http', 'store')
  const members: Member[] = []
  let failure: unknown
  for (const name of await namesOf(app, choices.profiles)) {
    try {
      members.push(await memberOf(app, name))
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      failure = error
      choices.onEvent({ name: 'profile-unusable', profile: name ?? '', code: error.code })
    }
  }
  if (members.length === 0) throw failure
  const unfinished = sharedLook(app, members)
  return members.map((member) => profileOf({ member, members, unfinished }, choices))
}

/** What is left of each profile's quota. */
export async function workerQuota(members: readonly WorkerProfile[]) {
  const left = members.map(async (member) =>
    (await member.quota()).map(({ seconds, left: calls }) => ({
      profile: member.name,
      seconds,
      left: calls,
    })),
  )
  return (await Promise.all(left)).flat()
}

async function namesOf(app: App, asked: string | undefined): Promise<(string | undefined)[]> {
  if (asked === undefined) return [app.options.profile]
  const known = [...(await (await app.services('settings')).settings.profiles()).keys()]
  if (asked === 'all' && known.length > 0) return known
  const named = asked === 'all' ? [] : asked.split(',').map((each) => each.trim())
  const unknown = named.find((each) => !known.includes(each))
  if (named.length > 0 && unknown === undefined) return named
  throw new UsageError(
    unknown === undefined
      ? '--profiles all: there are no profiles'
      : `--profiles: no profile named "${unknown}"`,
    { hint: 'List the profiles with: refcheck auth list' },
  )
}

async function memberOf(parent: App, name: string | undefined): Promise<Member> {
  const app = await parent.forProfile(name)
  const {
    session: { baseUrl, email, profile },
  } = await app.services('session')
  return {
    app,
    name: name ?? profile ?? 'default',
    baseUrl,
    email,
    account: (await app.services('account')).account,
  }
}

/** So long one look at the store serves all keys that are read again. */
const readServesMs = 30_000

/** Unfinished requests of a key. Keys that ask at the same time share a look: a store may hold very many. */
function sharedLook(app: App, members: readonly Member[]): (member: Member) => Promise<ListedRequest[]> {
  const { clock } = app.context
  let lastRead: { at: number; found: Promise<Map<Member | undefined, ListedRequest[]>> } | undefined
  const readNow = async () => {
    const requests = await unfinishedRequests({ ledger: (await app.services('ledger')).ledger, clock })
    const owners = new Map<string, Member | undefined>()
    return Map.groupBy(requests, ({ base_url: baseUrl, user_email: userEmail }) => {
      const name = `${baseUrl} ${userEmail}`
      if (!owners.has(name)) owners.set(name, ordererOf({ baseUrl, userEmail }, members))
      return owners.get(name)
    })
  }
  return async (member) => {
    const now = clock.monotonic()
    if (lastRead === undefined || now - lastRead.at > readServesMs) lastRead = { at: now, found: readNow() }
    const { found } = lastRead
    // A run that failed is not left to another worker.
    found.catch(() => (lastRead = undefined))
    return (await found).get(member) ?? []
  }
}

interface AmongMembers {
  member: Member
  members: readonly Member[]
  unfinished: (member: Member) => Promise<ListedRequest[]>
}

function profileOf({ member, members, unfinished }: AmongMembers, choices: WorkerChoices): WorkerProfile {
  const { app, name } = member
  const { output, signal, onEvent } = choices
  const isOurs = (request: { baseUrl: string; userEmail: string }): boolean =>
    ordererOf(request, members) === member
  const folder = output === undefined || members.length === 1 ? output : join(output, name)
  return {
    ...member,
    async send(batchId) {
      const named = { profile: name, batchId }
      const services = {
        ...(await startServices(app, signal)),
        prompter: undefined,
        onBatchEvent: ({ name: notice }: { name: string }) => onEvent({ name: 'notice', ...named, notice }),
        meter: { onStart: () => undefined, onEvent: rowTeller(named, onEvent) },
      }
      return startBatch(services, batchId, { isQueued: true })
    },
    async refresh() {
      const parts = {
        ...(await following(app)),
        api: (await app.services('api')).api,
        ledger: (await app.services('ledger')).ledger,
        governor: (await app.services('governor')).governor,
        signal,
      }
      const failures = await readAgain(parts, await unfinished(member))
      return failures.find(({ error }) => error.code !== 'not_found')?.error
    },
    async quota() {
      const { windows } = await (await app.services('governor')).governor.status()
      return windows.map(({ seconds, left }) => ({ seconds, left }))
    },
    file:
      folder === undefined
        ? undefined
        : async () => {
            const flags = { overwrite: false, wait: false, timeout: undefined, concurrency: undefined }
            const typed = resolve(app.context.cwd, folder)
            const onWait = (other: string): void =>
              onEvent({
                name: 'folder-in-use',
                profile: name,
                reason: `${other} downloads into the same folder`,
              })
            const { reports, failure } = await fileReports(
              app,
              { ...flags, 'name-template': undefined },
              { typed, source: { kind: 'all', isOurs }, signal, onWait },
            )
            return { reports: reports.filter((each) => !isMissing(each) && !each.skipped).length, failure }
          },
  }
}

type StartServices = Awaited<ReturnType<typeof startServices>>

function rowTeller(
  named: { profile: string; batchId: string },
  onEvent: (event: WorkerEvent) => void,
): StartServices['meter']['onEvent'] {
  return (event) => {
    if (event.name === 'row') {
      const { row, state } = event
      onEvent({ name: 'row', ...named, row, state })
    } else if (event.name === 'waiting') {
      onEvent({ name: 'waiting', ...named, cause: event.cause, seconds: event.seconds })
    } else if (event.name === 'outage') {
      onEvent({ name: 'waiting', ...named, cause: 'outage', seconds: event.seconds })
    }
  }
}
