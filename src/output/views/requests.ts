import type { PrintedRequest } from '../../domain/request/listing.ts'
import { localDay } from '../../domain/wording/local-time.ts'
import { failureJson } from '../failure.ts'
import type { ListView } from '../view.ts'
import { statusStyle } from './status.ts'

/** The journal's requests. A row without a status shows what is known of its order instead. */
export function listedRequestsView(requests: readonly PrintedRequest[]): ListView<PrintedRequest> {
  return {
    rows: requests,
    json: ({ failure, ...row }) => (failure === undefined ? row : { ...row, error: failureJson(failure) }),
    columns: [
      {
        name: 'request_id',
        value: (row) => row.request_id,
        short: (row) => row.request_id?.slice(0, 8) ?? '-',
        whole: true,
      },
      {
        name: 'status',
        value: (row) => row.status ?? row.state,
        style: (row) => (row.status === null ? 'yellow' : statusStyle(row.status)),
      },
      { name: 'ordered_at', value: (row) => row.ordered_at, show: (row) => localDay(row.ordered_at) },
      {
        name: 'name',
        value: ({ recipient: person }) => person && `${person.first_name} ${person.last_name}`,
      },
      {
        name: 'package',
        value: ({ package_id: id, package_name: name }) => (name === null ? id : `${id} ${name}`),
      },
      { name: 'first_name', value: (row) => row.recipient?.first_name, extra: true },
      { name: 'last_name', value: (row) => row.recipient?.last_name, extra: true },
      { name: 'email', value: (row) => row.recipient?.email, extra: true },
      { name: 'package_id', value: (row) => row.package_id, extra: true },
      { name: 'phone', value: (row) => row.recipient?.phone, extra: true },
      { name: 'status_read_at', value: (row) => row.status_read_at, extra: true },
      { name: 'batch_id', value: (row) => row.batch_id, extra: true },
      { name: 'user_email', value: (row) => row.user_email, extra: true },
      { name: 'base_url', value: (row) => row.base_url, extra: true },
      { name: 'reason', value: (row) => row.reason, extra: true },
      { name: 'error_reason', value: (row) => row.error_reason, extra: true },
    ],
    empty: 'No requests match. Only requests ordered with this store are listed.',
  }
}
