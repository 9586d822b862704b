import { all, type Work } from '../engine.ts'
import { formats } from './migrate.ts'

/** Of the tables of the store, and of functions that a trigger or a rule could call. */
const selectFound = `
SELECT 'trigger' AS kind, t.tgname AS name, c.relname AS "table", t.tgtype = 6 AND f.proname = 'moved' AS is_fence, '' AS text
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc f ON f.oid = t.tgfoid
  WHERE c.relnamespace = to_regnamespace('refcheck') AND NOT t.tgisinternal
UNION ALL SELECT 'function', f.proname, NULL, f.proname = 'moved', f.prosrc
  FROM pg_proc f WHERE f.pronamespace = to_regnamespace('refcheck')
UNION ALL SELECT 'rule', r.rulename, c.relname, false, ''
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
  WHERE c.relnamespace = to_regnamespace('refcheck') AND c.relkind IN ('r', 'p')
UNION ALL SELECT 'policy', p.polname, c.relname, false, ''
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = to_regnamespace('refcheck')
UNION ALL SELECT 'default', a.attname, c.relname, false, pg_get_expr(d.adbin, d.adrelid)
  FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
  JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  WHERE c.relnamespace = to_regnamespace('refcheck') AND c.relkind IN ('r', 'p')
UNION ALL SELECT 'index', c.relname, t.relname, false, ''
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE c.relnamespace = to_regnamespace('refcheck') AND i.indisvalid
ORDER BY 1, 3, 2`

interface Found {
  kind: 'trigger' | 'function' | 'rule' | 'policy' | 'default' | 'index'
  name: string
  table: string | undefined
  isFence: boolean
  text: string
}

/**
 * What the tables have that the schema does not make, in sentences: a trigger, a rule, a policy or another default changes
 * what is written without any statement of ours. The triggers of a store that was moved are ours: their function has
 * `fenceBody`. Indexes are only missed.
 */
export function* foreignParts(fenceBody: string): Work<string[]> {
  const found = yield* all<Found>(selectFound)
  const fence = found.find(({ kind, isFence }) => kind === 'function' && isFence)
  const isOurFence = fence?.text === fenceBody
  const schema = formats.join('\n')
  const defaults = defaultsOf(schema)
  const findings: string[] = []
  for (const { kind, name, table, isFence, text } of found) {
    if (kind === 'default') {
      const column = `${table}.${name}`
      const expected = defaults.get(column)
      defaults.delete(column)
      if (text.replace(/::[a-z ]+$/, '') !== expected)
        findings.push(`the default of ${column} is ${text}; refcheck makes ${expected ?? 'none'}`)
    } else if (kind === 'index') {
      continue
    } else if (!isFence || !isOurFence) {
      findings.push(
        `a ${kind} that refcheck did not make ${table === undefined ? 'is next to its tables' : `is on table ${table}`}: ${name}`,
      )
    }
  }
  for (const [column, expected] of defaults)
    findings.push(`the default of ${column} is missing; refcheck makes ${expected}`)
  const indexes = new Set(found.flatMap(({ kind, name }) => (kind === 'index' ? [name] : [])))
  for (const [, name = ''] of schema.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)/gm))
    if (!indexes.has(name)) findings.push(`the index ${name} is missing or not valid`)
  return findings
}

/** By table and column. */
function defaultsOf(sql: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, table = '', body = ''] of sql.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms))
    for (const [, column = '', value = ''] of body.matchAll(/^ {2}(\w+) .*DEFAULT (\d+|'[^']*')/gm))
      found.set(`${table}.${column}`, value)
  return found
}
