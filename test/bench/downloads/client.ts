/*
 * Files every report of the bench's one request, as `report download` does, into the folder named
 * second, from the service named first, twice: a rate is that of code that has run. Prints one line of
 * JSON: milliseconds, those of the first time, and peak memory in MB.
 */
import { rmSync, writeSync } from 'node:fs'

import { connectApi } from '../../../src/api/api.ts'
import { fetchReports } from '../../../src/usecases/report/fetch.ts'
import { defaultTemplate, parseTemplate } from '../../../src/domain/report/template.ts'
import { systemClock as clock } from '../../../src/host/clock.ts'
import { createGarbageTrigger } from '../../../src/host/memory.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { HttpClient } from '../../../src/http/client.ts'
import { formatCsv } from '../../../src/output/present.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'
import { peakMegabytes } from '../measuring.ts'

const [, , baseUrl = '', path = ''] = process.argv

const http = new HttpClient({ clock, env: {}, userAgent: 'refcheck-bench' })
const credentials = { apiKey: 'k'.repeat(32), userEmail: 'owner@example.com' }
const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 0 })

const passed = createGarbageTrigger()

async function file(into: string): Promise<number> {
  const began = performance.now()
  const folder = await ReportFolder.open(into, { clock, random, pid: process.pid, csv: formatCsv })
  const { failure } = await fetchReports(
    { kind: 'requests', requestIds: ['00000000-0000-4000-8000-000000999999'] },
    {
      api,
      openLedger: () => Promise.reject(new Error('not asked for')),
      clock,
      folder,
      file: undefined,
      template: parseTemplate(defaultTemplate),
      overwrite: false,
      concurrency: 8,
      waitMs: undefined,
      signal: new AbortController().signal,
      createWaitOptions: () => Promise.reject(new Error('not waited for')),
      onEvent: (event) => {
        if (event.name === 'received' && event.bytes > 0) passed(event.bytes)
      },
    },
  )
  if (failure !== undefined) throw failure
  return performance.now() - began
}

const cold = await file(path)
rmSync(path, { recursive: true })
const warm = await file(path)
await http.close()
const megabytes = peakMegabytes()
writeSync(1, JSON.stringify({ cold, milliseconds: warm, megabytes }))
