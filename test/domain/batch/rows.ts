import { type BatchCounts, type BatchRow, createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import type { RowProblem, RowReading } from '../../../src/domain/batch/row.ts'
import type { SubmissionState } from '../../../src/domain/submission/states.ts'

export const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+61400000000' }

/** A problem of a column; the line of a row is its number plus 1, because of the header line. */
export const problem = (row: number, column = 'email', value = 'x', text = 'is wrong'): RowProblem => ({
  row,
  line: row + 1,
  person: 'Ann Lee',
  column,
  value,
  problem: text,
})

/** Returns row counts by state with their sum as `total`. */
export function countsOf(states: Partial<Record<SubmissionState, number>>): BatchCounts {
  const total = Object.values(states).reduce((sum, count) => sum + count, 0)
  return { ...createEmptyCounts(), ...states, total }
}

/** Returns the reading of a valid row, with `changes` replacing its properties. */
export const rowReading = (changes: Partial<RowReading> = {}): RowReading => ({
  row: 1,
  source: { row: 1, line: 2, cells: [] },
  packageId: 7,
  person: ann,
  body: { package_id: 7, recipient: ann },
  changes: [],
  problems: [],
  ...changes,
})

/** Returns a pending row of a batch, with `changes` replacing its properties. */
export const batchRow = (changes: Partial<BatchRow> = {}): BatchRow => ({
  batchId: 'b-1',
  row: 1,
  state: 'pending',
  attemptId: undefined,
  heldFor: undefined,
  shares: [],
  baseUrl: 'https://api.example.com',
  userEmail: 'owner@example.com',
  packageId: 7,
  recipient: ann,
  attempts: 0,
  addedAt: 0,
  attemptedAt: undefined,
  changedAt: 0,
  requestId: undefined,
  requestStatus: undefined,
  requestStatusAt: undefined,
  checks: undefined,
  offeredId: undefined,
  reason: undefined,
  field: undefined,
  person: 'recipient' in changes ? (changes.recipient ?? {}) : ann,
  matches: undefined,
  ...changes,
})
