/** "Request status". */
export const requestStatuses = [
  'RECEIVED',
  'IN_PROGRESS',
  'PARTIAL',
  'COMPLETED',
  'ERROR',
  'CANCELLED',
] as const
export type RequestStatus = (typeof requestStatuses)[number]

/** "Check status" and "Referee status". */
export const checkStatuses = ['RECEIVED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'ERROR'] as const
export const refereeStatuses = ['IN_PROGRESS', 'COMPLETED', 'CANCELLED'] as const

/** "Terminal statuses … never transition further" ("States and transitions", rule 1). */
export const terminalStatuses: readonly string[] = ['COMPLETED', 'ERROR', 'CANCELLED']

/**
 * The rank of a status. The status of a request changes only to a status of a higher rank, and never after a terminal
 * status.
 */
export const statusRank: Readonly<Record<RequestStatus, number>> = {
  RECEIVED: 0,
  IN_PROGRESS: 1,
  PARTIAL: 2,
  COMPLETED: 3,
  ERROR: 3,
  CANCELLED: 3,
}

/** `type` of a check ("Check"). */
export const checkTypes = ['reference', 'background'] as const

/**
 * Whether a request is not finished, by the status that was read last. A request that was not read yet has no status
 * and is not finished.
 */
export const isUnfinished = (status: string | null | undefined): boolean =>
  !terminalStatuses.includes(status ?? '')
