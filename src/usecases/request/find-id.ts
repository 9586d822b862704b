import type { Api } from '../../api/api.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { personName } from '../../domain/wording/shown-name.ts'
import { UsageError, NotFoundError } from '../../errors/kinds.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { ambiguousStart } from '../../domain/request/id-start.ts'

export interface FindIdPorts {
  ledger: Pick<Ledger, 'list'>
  inbox: Pick<Inbox, 'unclaimed'>
}

/**
 * The request of this store whose id starts so; `baseUrl`: at this service alone. Throws UsageError where several do,
 * with them.
 */
export async function findRequestId(
  { ledger, inbox }: FindIdPorts,
  start: string,
  baseUrl?: string,
): Promise<string> {
  const all = await ledger.list({ requestStart: start })
  const ordered =
    baseUrl === undefined ? all : all.filter((each) => serviceOf(each.baseUrl) === serviceOf(baseUrl))
  const told = (await inbox.unclaimed(baseUrl)).filter((id) => id.startsWith(start))
  const names = new Map([
    ...told.map((id) => [id, 'not ordered with this store'] as const),
    ...ordered.map(({ requestId = '', recipient: person, requestStatus: status }) => {
      const name = person === undefined ? 'removed' : personName(person)
      return [requestId, `${name}${status === undefined ? '' : `, ${status}`}`] as const
    }),
  ])
  const [only, ...others] = names.keys()
  const [elsewhere] = all
  if (only === undefined && elsewhere !== undefined) {
    throw new UsageError(`request ${start} is for ${elsewhere.baseUrl}, and this profile is for ${baseUrl}`, {
      hint: 'Choose the profile that it was ordered with: --profile NAME',
    })
  }
  if (only === undefined) {
    throw new NotFoundError(`no request of this store starts with "${start}"`, {
      hint: 'List the requests with: refcheck request list',
    })
  }
  if (others.length === 0) return only
  throw new UsageError(...ambiguousStart('request', start, [...names]))
}

/** The rows of this service that have a request. Another service may give out the same id. */
export async function rowsOfRequest(
  { api, ledger }: { api: Pick<Api, 'baseUrl'>; ledger: Pick<Ledger, 'list'> },
  requestId: string,
): Promise<Submission[]> {
  const service = serviceOf(api.baseUrl)
  return (await ledger.list({ requestId })).filter(({ baseUrl }) => serviceOf(baseUrl) === service)
}
