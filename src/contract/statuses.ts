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

/** How far on a request is: a status is only ever followed by one of a higher rank, and the terminal ones by none. */
export const statusRank: Readonly<Record<RequestStatus, number>> = {
  RECEIVED: 0,
  IN_PROGRESS: 1,
  PARTIAL: 2,
  COMPLETED: 3,
  ERROR: 3,
  CANCELLED: 3,
}
