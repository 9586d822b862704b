import { commonSchema } from '../schema.ts'

/** Format 1 in a file: `rowid` is the order in which rows were added. */
export const schema = commonSchema({
  text: 'TEXT',
  integer: 'INTEGER',
  real: 'REAL',
  bytes: 'BLOB',
  serial: '',
  newNumber: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  end: ' STRICT',
  submissionColumns: '',
  pendingOrder: 'row_number',
  foldedEmail: 'email COLLATE NOCASE',
})
