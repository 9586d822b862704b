import type { LogEntry } from '../../service/log.ts'

/** Wall time to the second, in UTC. */
export function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** 45 s, 12 min, 1 h. */
export function seconds(count: number): string {
  if (count < 120) return `${count} s`
  return count < 7200 && count % 3600 !== 0
    ? `${Math.round(count / 60)} min`
    : `${Math.round(count / 3600)} h`
}

/** One thing that happened, on a line. */
export function logLine(entry: LogEntry): string {
  const time = new Date(entry.at).toISOString().slice(11, 19)
  switch (entry.kind) {
    case 'call': {
      const fault = entry.fault === null ? '' : ` (fault: ${entry.fault})`
      return `${time}  ${entry.method} ${entry.path}  ${entry.status ?? 'cut'}${fault}`
    }
    case 'status':
      return `${time}  ${entry.request_id} is ${entry.status}`
    case 'delivery':
      return `${time}  ${entry.status} of ${entry.request_id} delivered: ${entry.outcome} (attempt ${entry.attempt})`
    case 'failure':
      return `${time}  ${entry.message}`
  }
}
