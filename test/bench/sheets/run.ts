/*
 * Reading and checking a table of people, compared with csv-parse alone on the same file, each in a process of its own.
 * Run: node test/bench/sheets/run.ts
 */
import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { tableBytes } from '../../../src/sheets/rewrite.ts'
import { type Figure, median, printFigures } from '../measuring.ts'
import { columns, person } from './people.ts'

const rounds = 5
const child = join(import.meta.dirname, 'child.ts')

interface Measured {
  ms: number
  rows: number
  megabytes: number
}

function runChild(mode: string, file: string, smallFile: string): Measured {
  return JSON.parse(
    execFileSync(process.execPath, [child, mode, file, smallFile], { encoding: 'utf8' }),
  ) as Measured
}

function* people(count: number): Generator<string[]> {
  for (let at = 0; at < count; at += 1) yield person(at)
}

async function writeTable(folder: string, count: number, format: 'csv' | 'xlsx'): Promise<string> {
  const file = join(folder, `${count}.${format}`)
  await pipeline(Readable.from(tableBytes({ columns, rows: people(count) }, format)), createWriteStream(file))
  return file
}

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
try {
  const csv = await writeTable(folder, 100_000, 'csv')
  const xlsx = await writeTable(folder, 50_000, 'xlsx')
  const few = { csv: await writeTable(folder, 3, 'csv'), xlsx: await writeTable(folder, 3, 'xlsx') }
  const alone = 'csv-parse alone, 100,000 rows x 8'
  const runs: [
    what: string,
    mode: string,
    file: string,
    maxTimes?: number | undefined,
    maxMegabytes?: number,
  ][] = [
    [alone, 'csv-parse', csv],
    ['reading CSV', 'read', csv, 1.3, 150],
    ['reading and checking CSV', 'validate', csv, 2, 150],
    ['reading XLSX, 50,000 rows', 'read', xlsx, undefined, 300],
    ['reading and checking XLSX', 'validate', xlsx, undefined, 300],
  ]
  const results = new Map<string, Measured[]>(runs.map(([what]) => [what, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [what, mode, file] of runs)
      results.get(what)?.push(runChild(mode, file, file === csv ? few.csv : few.xlsx))
  }
  const times = (what: string): number[] => (results.get(what) ?? []).map(({ ms, rows }) => ms / rows)
  printFigures(
    runs.flatMap(([what, , , maxTimes, maxMegabytes]): Figure[] => {
      const ratios = times(what).map((each, at) => each / (times(alone)[at] ?? Number.NaN))
      const perSecond = Math.round(1000 / median(times(what))).toLocaleString('en')
      const megabytes = Math.max(...(results.get(what) ?? []).map((each) => each.megabytes))
      return [
        {
          what: `${what}: time a row to csv-parse`,
          value: median(ratios),
          atMost: maxTimes,
          note: `${perSecond} rows/s`,
        },
        { what: `${what}: peak memory`, value: megabytes, unit: ' MB', atMost: maxMegabytes },
      ]
    }),
  )
} finally {
  rmSync(folder, { recursive: true })
}
