import { terminalStatuses } from '../../contract/statuses.ts'

/**
 * Whether a request is not finished, by the status that was read last. A request that was not read yet has no status
 * and is not finished.
 */
export const isUnfinished = (status: string | null | undefined): boolean =>
  !terminalStatuses.includes(status ?? '')
