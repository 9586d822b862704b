/*
 * Downloads every report of the single request of the benchmark, as `report download` does. It does so twice, because
 * the rate is that of code that has already run. Prints one line of JSON: the duration of the second download in ms,
 * that of the first (`coldMs`), and the peak memory in MB.
 * Run by run.ts: node client.mjs URL FOLDER
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

const [, , baseUrl = '', reportFolder = ''] = process.argv

const http = new HttpClient({ clock, env: {}, userAgent: 'refcheck-bench' })
const credentials = { apiKey: 'k'.repeat(32), userEmail: 'owner@example.com' }
const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 0 })

const collectGarbageAfter = createGarbageTrigger()

async function downloadAll(path: string): Promise<number> {
  const startedAt = performance.now()
  const folder = await ReportFolder.open(path, { clock, random, pid: process.pid, csv: formatCsv })
  const { failure } = await fetchReports(
    { kind: 'requests', requestIds: ['00000000-0000-4000-8000-000000999999'] },
    {
      api,
      openLedger: () => Promise.reject(new Error('no ledger is needed')),
      clock,
      folder,
      file: undefined,
      template: parseTemplate(defaultTemplate),
      overwrite: false,
      concurrency: 8,
      waitMs: undefined,
      signal: new AbortController().signal,
      createWaitOptions: () => Promise.reject(new Error('no request is followed')),
      onEvent: (event) => {
        if (event.name === 'received' && event.bytes > 0) collectGarbageAfter(event.bytes)
      },
    },
  )
  if (failure !== undefined) throw failure
  return performance.now() - startedAt
}

const coldMs = await downloadAll(reportFolder)
rmSync(reportFolder, { recursive: true })
const warmMs = await downloadAll(reportFolder)
await http.close()
const megabytes = peakMegabytes()
writeSync(1, JSON.stringify({ coldMs, durationMs: warmMs, megabytes }))
