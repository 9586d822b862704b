import type { BulkInsert, Columns, Insert, ParameterRows } from '../engine.ts'

/** One list of JSON: it holds no bytes. */
export function sqliteRows(columns: Columns): ParameterRows {
  const names = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`)
  return {
    from: `(SELECT ${names.join(', ')}, key AS place FROM json_each(:rows)) AS came`,
    values: (rows) => ({ rows: JSON.stringify(rows) }),
  }
}

/** A row a statement: without a network between them nothing is gained by more. */
export function sqliteInsert({ table, columns, ending = '' }: Insert): BulkInsert {
  const names = Object.keys(columns)
  const values = names.map((name) => `:${name}`)
  return {
    sql: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${values.join(', ')}) ${ending}`,
    values: (rows) => [...rows],
  }
}
