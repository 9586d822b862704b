/*
 * Makes one measurement and prints {ms, rows, megabytes}.
 * Run by run.ts: node child.ts MODE FILE SMALL_FILE, where SMALL_FILE is read first, without measuring
 */
import { createReadStream } from 'node:fs'

import { parse } from 'csv-parse'

import { peakMegabytes } from '../measuring.ts'
import { schema } from './people.ts'
import { packageSchema } from '../../../src/contract/package-schema.ts'
import { jsonRow } from '../../../src/domain/batch/cell-value.ts'
import { noMapping } from '../../../src/domain/batch/columns.ts'
import { openSheet } from '../../../src/sheets/open.ts'
import { fileSource } from '../../../src/sheets/sheet.ts'
import { checkBatch, readColumns } from '../../../src/usecases/batch/check-file.ts'

const [mode = '', largeFile = '', smallFile = ''] = process.argv.slice(2)

async function openTable(file: string) {
  return openSheet(await fileSource(file, file), { readJson: jsonRow })
}

const modes: Record<string, (file: string) => Promise<number>> = {
  async 'csv-parse'(file) {
    let rows = 0
    for await (const record of createReadStream(file).pipe(parse()))
      rows += (record as string[]).length > 0 ? 1 : 0
    return rows - 1
  },
  async read(file) {
    let rows = 0
    for await (const { cells } of (await openTable(file)).rows()) rows += cells.length > 0 ? 1 : 0
    return rows
  },
  async validate(file) {
    const parsed = packageSchema.parse(schema)
    const orders = await readColumns(await openTable(file), {
      packageId: parsed.id,
      map: [],
      ignore: [],
      storedMapping: noMapping,
      schemaOf: () => Promise.resolve(parsed),
      repair: undefined,
    })
    const { rows, valid } = await checkBatch(orders, '2026-11-20')
    if (valid !== rows) throw new Error(`${rows - valid} rows are not valid`)
    return rows
  },
}

const run = modes[mode]
if (run === undefined) throw new Error(`there is no mode ${mode}`)
// A first run loads the lazily imported modules. Loading belongs to start-up, which another benchmark measures.
await run(smallFile)
const startedAt = performance.now()
const rows = await run(largeFile)
const ms = performance.now() - startedAt
console.log(JSON.stringify({ ms, rows, megabytes: peakMegabytes() }))
