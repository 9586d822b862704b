/*
 * Reading and checking a table of people, beside csv-parse alone on the same file, each in a process of its own.
 * Run: node test/bench/sheets/run.ts
 */
import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { tableBytes } from '../../../src/sheets/rewrite.ts'
import { columns, person } from './people.ts'

const rounds = 5
const child = join(import.meta.dirname, 'child.ts')

interface Measured {
  ms: number
  rows: number
  megabytes: number
}

function measured(mode: string, file: string): Measured {
  return JSON.parse(execFileSync(process.execPath, [child, mode, file], { encoding: 'utf8' })) as Measured
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

function* people(count: number): Generator<string[]> {
  for (let at = 0; at < count; at += 1) yield person(at)
}

async function made(folder: string, count: number, format: 'csv' | 'xlsx'): Promise<string> {
  const file = join(folder, `${count}.${format}`)
  await pipeline(Readable.from(tableBytes({ columns, rows: people(count) }, format)), createWriteStream(file))
  return file
}

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
try {
  const csv = await made(folder, 100_000, 'csv')
  const xlsx = await made(folder, 50_000, 'xlsx')
  const runs: [what: string, mode: string, file: string, goal: string][] = [
    ['csv-parse alone, 100,000 rows x 8', 'csv-parse', csv, ''],
    ['reading CSV', 'read', csv, '1.3, 150 MB'],
    ['reading and checking CSV', 'validate', csv, '2, 150 MB'],
    ['reading XLSX, 50,000 rows', 'read', xlsx, '300 MB'],
    ['reading and checking XLSX', 'validate', xlsx, '300 MB'],
  ]
  const results = new Map<string, Measured[]>(runs.map(([what]) => [what, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [what, mode, file] of runs) results.get(what)?.push(measured(mode, file))
  }
  const floor = median((results.get('csv-parse alone, 100,000 rows x 8') ?? []).map(({ ms }) => ms))
  console.table(
    runs.map(([what, , , goal]) => {
      const all = results.get(what) ?? []
      const ms = median(all.map((each) => each.ms))
      const [first] = all
      return {
        what,
        'rows/s': Math.round(((first?.rows ?? 0) / ms) * 1000),
        'to csv-parse': first?.rows === 100_000 ? (ms / floor).toFixed(2) : '',
        'peak MB': Math.round(Math.max(...all.map(({ megabytes }) => megabytes))),
        goal,
      }
    }),
  )
} finally {
  rmSync(folder, { recursive: true })
}
