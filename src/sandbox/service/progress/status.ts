import type { RequestStatus } from '../../../contract/statuses.ts'
import type { RequestRecord } from '../records.ts'

/** The overall status by the meanings of "Request status". */
export function overallStatus(request: RequestRecord): RequestStatus {
  if (request.error_reason !== null) return 'ERROR'
  const statuses = request.checks.map((check) => check.status)
  const running = statuses.some((status) => status === 'IN_PROGRESS' || status === 'RECEIVED')
  if (statuses.includes('COMPLETED')) return running ? 'PARTIAL' : 'COMPLETED'
  if (!running) return 'CANCELLED'
  return statuses.every((status) => status === 'RECEIVED') ? 'RECEIVED' : 'IN_PROGRESS'
}
