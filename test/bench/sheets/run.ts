/*
 * Measures reading and checking a table of people, compared with csv-parse alone on the same file, each in a new process.
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
import { columns, createPersonRow } from './people.ts'

const rounds = 5
const childProgram = join(import.meta.dirname, 'child.ts')

interface Measurement {
  ms: number
  rows: number
  megabytes: number
}

function runChild(mode: string, file: string, smallFile: string): Measurement {
  return JSON.parse(
    execFileSync(process.execPath, [childProgram, mode, file, smallFile], { encoding: 'utf8' }),
  ) as Measurement
}

function* createRows(count: number): Generator<string[]> {
  for (let index = 0; index < count; index += 1) yield createPersonRow(index)
}

async function writeTable(folder: string, count: number, format: 'csv' | 'xlsx'): Promise<string> {
  const file = join(folder, `${count}.${format}`)
  await pipeline(
    Readable.from(tableBytes({ columns, rows: createRows(count) }, format)),
    createWriteStream(file),
  )
  return file
}

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
try {
  const csv = await writeTable(folder, 100_000, 'csv')
  const xlsx = await writeTable(folder, 50_000, 'xlsx')
  const smallFiles = { csv: await writeTable(folder, 3, 'csv'), xlsx: await writeTable(folder, 3, 'xlsx') }
  const csvParseLabel = 'csv-parse alone, 100,000 rows x 8'
  const runs: [
    label: string,
    mode: string,
    file: string,
    maxTimes?: number | undefined,
    maxMegabytes?: number,
  ][] = [
    [csvParseLabel, 'csv-parse', csv],
    ['reading CSV', 'read', csv, 1.3, 150],
    ['reading and checking CSV', 'validate', csv, 2, 150],
    ['reading XLSX, 50,000 rows', 'read', xlsx, undefined, 300],
    ['reading and checking XLSX', 'validate', xlsx, undefined, 300],
  ]
  const results = new Map<string, Measurement[]>(runs.map(([label]) => [label, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [label, mode, file] of runs)
      results.get(label)?.push(runChild(mode, file, file === csv ? smallFiles.csv : smallFiles.xlsx))
  }
  const listRowTimes = (label: string): number[] =>
    (results.get(label) ?? []).map(({ ms, rows }) => ms / rows)
  printFigures(
    runs.flatMap(([label, , , maxTimes, maxMegabytes]): Figure[] => {
      const ratios = listRowTimes(label).map(
        (time, index) => time / (listRowTimes(csvParseLabel)[index] ?? Number.NaN),
      )
      const perSecond = Math.round(1000 / median(listRowTimes(label))).toLocaleString('en')
      const megabytes = Math.max(...(results.get(label) ?? []).map((each) => each.megabytes))
      return [
        {
          label: `${label}: time a row to csv-parse`,
          value: median(ratios),
          atMost: maxTimes,
          note: `${perSecond} rows/s`,
        },
        { label: `${label}: peak memory`, value: megabytes, unit: ' MB', atMost: maxMegabytes },
      ]
    }),
  )
} finally {
  rmSync(folder, { recursive: true })
}
