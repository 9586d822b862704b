import type { BulkInsert, Columns, ColumnType, Insert, ParameterRows, Values } from '../engine.ts'

const arrays: Readonly<Record<ColumnType, string>> = {
  text: 'text[]',
  number: 'bigint[]',
  real: 'double precision[]',
  bytes: 'bytea[]',
}

/** A list of each column's values. */
export function postgresRows(columns: Columns): ParameterRows {
  const names = Object.keys(columns)
  const lists = Object.entries(columns).map(([name, type]) => `CAST(:${name} AS ${arrays[type]})`)
  return {
    from: `unnest(${lists.join(', ')}) WITH ORDINALITY AS came (${names.join(', ')}, place)`,
    values: (rows): Values => Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])),
  }
}

/** All rows in one statement; identity columns count up in their order. */
export function postgresInsert({ table, columns, ending = '' }: Insert): BulkInsert {
  const names = Object.keys(columns).join(', ')
  const { from, values } = postgresRows(columns)
  return {
    sql: `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${from} ORDER BY place ${ending}`,
    values: (rows) => [values(rows)],
  }
}
