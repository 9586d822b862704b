/*
 * Measures how many reads a wait makes for each change of status, and how late it detects the changes, on a virtual
 * clock. The reads are compared with those of a program that reads each request every 30 s, which are calculated.
 * Run: node test/bench/waiting/run.ts
 */
import { countMaxWithin, simulateWait } from '../../usecases/request/waiting.ts'
import { type Figure, printTable, quantile, printFigures } from '../measuring.ts'

const hourMs = 3_600_000
const naiveIntervalMs = 30_000
const cases = [
  { requests: 1, spanMs: hourMs },
  { requests: 10, spanMs: 6 * hourMs },
  { requests: 100, spanMs: 6 * hourMs },
  { requests: 500, spanMs: 6 * hourMs },
]

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`

const rows: string[][] = [
  ['requests', 'receiver', 'reads', 'reads/change', 'to every 30 s', 'late p50', 'p95', 'most/min', 'most/h'],
]
const figures: Figure[] = []
for (const parameters of cases) {
  for (const receiver of ['none', 'runs'] as const) {
    const { reads, lateness, durationMs } = await simulateWait({ seed: 1, ...parameters, receiver })
    const naiveReadsPerChange = (parameters.requests * (durationMs / naiveIntervalMs)) / lateness.length
    const readsPerChange = reads.length / lateness.length
    if (parameters.requests === 500) {
      figures.push({
        label: `reads a change of status, 500 requests${receiver === 'runs' ? ' with a receiver' : ''}, to every 30 s`,
        value: readsPerChange / naiveReadsPerChange,
        note: `${readsPerChange.toFixed(1)} reads a change, seen ${formatSeconds(quantile(lateness, 0.5))} late`,
      })
    }
    rows.push([
      `${parameters.requests} in ${parameters.spanMs / hourMs} h`,
      receiver,
      String(reads.length),
      readsPerChange.toFixed(1),
      (readsPerChange / naiveReadsPerChange).toFixed(3),
      formatSeconds(quantile(lateness, 0.5)),
      formatSeconds(quantile(lateness, 0.95)),
      String(countMaxWithin(reads, 60_000)),
      String(countMaxWithin(reads, hourMs)),
    ])
  }
}
printTable(rows)
process.stdout.write('\n')
printFigures(figures)
