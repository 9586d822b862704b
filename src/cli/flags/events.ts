import { Flags } from '@oclif/core'

import { requestStatuses } from '../../contract/request.ts'
import { uuidFlag } from './identifiers.ts'
import { momentFlag } from './moment.ts'

/** Which events of the inbox. */
export const eventFlags = {
  status: Flags.string({
    summary: `Only this status: ${requestStatuses.slice(0, 3).join(', ')} …`,
    helpValue: 'STATUS',
  }),
  'request-id': uuidFlag({ summary: 'Only of this request.' }),
  since: momentFlag({ summary: 'Received at this date or later: 2026-11-01, or 7d.' }),
  until: momentFlag({ summary: 'Received before this date.' }),
}

export function eventFilter(flags: {
  status: string | undefined
  'request-id': string | undefined
  since: number | undefined
  until: number | undefined
}) {
  return {
    status: flags.status?.toUpperCase(),
    requestId: flags['request-id'],
    since: flags.since,
    until: flags.until,
  }
}
