/*
 * How many reads a wait makes for each change of status it sees, and how late it sees them, on a virtual
 * clock; beside a reader that asks every 30 s, whose figures follow from arithmetic.
 * Run: node test/bench/waiting/run.ts
 */
import { mostWithin, waiting } from '../../domain/request/waiting.ts'

const hour = 3_600_000
const every = 30_000
const cases = [
  { requests: 1, spanMs: hour },
  { requests: 10, spanMs: 6 * hour },
  { requests: 100, spanMs: 6 * hour },
  { requests: 500, spanMs: 6 * hour },
]

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`

const rows: string[][] = [
  ['requests', 'receiver', 'reads', 'reads/change', 'to every 30 s', 'late p50', 'p95', 'most/min', 'most/h'],
]
for (const one of cases) {
  for (const receiver of ['none', 'runs'] as const) {
    const { reads, lateness, longMs } = await waiting({ seed: 1, ...one, receiver })
    const naive = (one.requests * (longMs / every)) / lateness.length
    const perChange = reads.length / lateness.length
    rows.push([
      `${one.requests} in ${one.spanMs / hour} h`,
      receiver,
      String(reads.length),
      perChange.toFixed(1),
      (perChange / naive).toFixed(3),
      seconds(quantile(lateness, 0.5)),
      seconds(quantile(lateness, 0.95)),
      String(mostWithin(reads, 60_000)),
      String(mostWithin(reads, hour)),
    ])
  }
}
const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
for (const row of rows) {
  process.stdout.write(`${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`)
}
