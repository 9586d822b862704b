import type { Style } from '../terminal.ts'

/** One colour for each status of packages, requests, checks and referees; none for one we do not know. */
export function statusStyle(status: string): Style | undefined {
  switch (status) {
    case 'COMPLETED':
    case 'ACTIVE':
      return 'green'
    case 'PARTIAL':
    case 'INACTIVE':
      return 'yellow'
    case 'IN_PROGRESS':
      return 'blue'
    case 'RECEIVED':
      return 'cyan'
    case 'ERROR':
    case 'DISABLED':
      return 'red'
    case 'CANCELLED':
      return 'magenta'
    default:
      return undefined
  }
}
