import { UsageError, NotFoundError } from '../../errors/kinds.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { ambiguousStart } from '../../domain/request/id-start.ts'

export interface FindIdPorts {
  ledger: Pick<Ledger, 'list'>
  inbox: Pick<Inbox, 'unclaimed'>
}

/** The request of this store whose id starts so. Throws UsageError where several do, with them. */
export async function findRequestId({ ledger, inbox }: FindIdPorts, start: string): Promise<string> {
  const ordered = await ledger.list({ requestStart: start })
  const told = (await inbox.unclaimed()).filter((id) => id.startsWith(start))
  const names = new Map([
    ...told.map((id) => [id, 'not ordered with this store'] as const),
    ...ordered.map(({ requestId = '', recipient: person, requestStatus: status }) => {
      const name = person === undefined ? 'removed' : `${person.first_name} ${person.last_name}`
      return [requestId, `${name}${status === undefined ? '' : `, ${status}`}`] as const
    }),
  ])
  const [only, ...others] = names.keys()
  if (only === undefined) {
    throw new NotFoundError(`no request of this store starts with "${start}"`, {
      hint: 'List the requests with: refcheck request list',
    })
  }
  if (others.length === 0) return only
  throw new UsageError(...ambiguousStart('request', start, [...names]))
}
