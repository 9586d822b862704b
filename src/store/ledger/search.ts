import { terminalStatuses } from '../../contract/statuses.ts'
import type { SubmissionFilter } from '../../domain/submission/submission.ts'
import type { Dialect, Values } from './engine.ts'
import { sqlList } from './sql.ts'

const unfinished = `s.request_id IS NOT NULL AND s.request_status NOT IN ${sqlList(terminalStatuses)}`

/** A filter as a WHERE clause on `selectSubmissions`. */
export function conditions(dialect: Dialect, filter: SubmissionFilter): { where: string; values: Values } {
  // Rows that never were a whole order are no submissions.
  const clauses: string[] = ['s.fingerprint IS NOT NULL']
  const values: Record<string, unknown> = {}
  const must = (clause: string, name: string, value: unknown): void => {
    if (value === undefined) return
    clauses.push(clause)
    values[name] = value
  }
  must('s.batch_id = :batch_id', 'batch_id', filter.batchId)
  must('s.request_id = :request_id', 'request_id', filter.requestId?.toLowerCase())
  const start = filter.requestStart?.toLowerCase()
  must('s.request_id >= CAST(:start AS text)', 'start', start)
  must('s.request_id < CAST(:beyond AS text)', 'beyond', start && `${start}g`)
  must('s.person_print = :person', 'person', filter.person)
  must(dialect.sameEmail('s.email', ':email'), 'email', filter.email)
  must('coalesce(a.began_at, b.added_at) >= :since', 'since', filter.since)
  must(dialect.isIn('s.state', 'states'), 'states', filter.states && dialect.list(filter.states))
  if (filter.unfinished === true) clauses.push(unfinished)
  return { where: `WHERE ${clauses.join(' AND ')}`, values }
}
