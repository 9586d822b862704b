/*
 * How many reads a wait makes for each change of status it sees, and how late it sees them, on a virtual
 * clock; compared with a reader that asks every 30 s, whose figures follow from arithmetic.
 * Run: node test/bench/waiting/run.ts
 */
import { maxWithin, waiting } from '../../usecases/request/waiting.ts'
import { type Figure, printTable, quantile, printFigures } from '../measuring.ts'

const hour = 3_600_000
const every = 30_000
const cases = [
  { requests: 1, spanMs: hour },
  { requests: 10, spanMs: 6 * hour },
  { requests: 100, spanMs: 6 * hour },
  { requests: 500, spanMs: 6 * hour },
]

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`

const rows: string[][] = [
  ['requests', 'receiver', 'reads', 'reads/change', 'to every 30 s', 'late p50', 'p95', 'most/min', 'most/h'],
]
const figures: Figure[] = []
for (const one of cases) {
  for (const receiver of ['none', 'runs'] as const) {
    const { reads, lateness, longMs } = await waiting({ seed: 1, ...one, receiver })
    const naive = (one.requests * (longMs / every)) / lateness.length
    const perChange = reads.length / lateness.length
    if (one.requests === 500) {
      figures.push({
        what: `reads a change of status, 500 requests${receiver === 'runs' ? ' with a receiver' : ''}, to every 30 s`,
        value: perChange / naive,
        note: `${perChange.toFixed(1)} reads a change, seen ${seconds(quantile(lateness, 0.5))} late`,
      })
    }
    rows.push([
      `${one.requests} in ${one.spanMs / hour} h`,
      receiver,
      String(reads.length),
      perChange.toFixed(1),
      (perChange / naive).toFixed(3),
      seconds(quantile(lateness, 0.5)),
      seconds(quantile(lateness, 0.95)),
      String(maxWithin(reads, 60_000)),
      String(maxWithin(reads, hour)),
    ])
  }
}
printTable(rows)
process.stdout.write('\n')
printFigures(figures)
