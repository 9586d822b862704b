/*
 * Files every report of the bench's one request, as `report download` does, into the folder named
 * second, from the service named first, twice: a rate is that of code that has run. Prints one line of
 * JSON: milliseconds, those of the first time, and peak memory in MB.
 */
import { rmSync, writeSync } from 'node:fs'

type Source = typeof import('../../../src/api/service.ts') &
  typeof import('../../../src/domain/report/fetch.ts') &
  typeof import('../../../src/domain/report/template.ts') &
  typeof import('../../../src/host/clock.ts') &
  typeof import('../../../src/host/memory.ts') &
  typeof import('../../../src/host/random.ts') &
  typeof import('../../../src/http/client.ts') &
  typeof import('../../../src/output/csv.ts') &
  typeof import('../../../src/store/files/report-folder.ts')

/** The built program, as it is shipped: stripping types takes memory of its own. */
async function built(): Promise<Source> {
  const rooms = ['api/service', 'domain/report/fetch', 'domain/report/template', 'host/clock', 'host/memory']
  rooms.push('host/random', 'http/client', 'output/csv', 'store/files/report-folder')
  const loaded = await Promise.all(
    rooms.map(async (room) => import(new URL(`../../../dist/${room}.js`, import.meta.url).href) as object),
  )
  return Object.assign({}, ...loaded) as Source
}

const {
  connectApi,
  csv,
  defaultTemplate,
  fetchReports,
  flatMemory,
  HttpClient,
  parseTemplate,
  ReportFolder,
  ...host
} = await built()
const { systemClock: clock, systemRandom: random } = host
const [, , baseUrl = '', path = ''] = process.argv

const http = new HttpClient({ clock, env: {}, userAgent: 'refcheck-bench' })
const credentials = { apiKey: 'k'.repeat(32), userEmail: 'owner@example.com' }
const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 0 })

const passed = flatMemory()

async function file(into: string): Promise<number> {
  const began = performance.now()
  const folder = await ReportFolder.open(into, { clock, random, pid: process.pid, csv })
  const { failure } = await fetchReports(
    { kind: 'requests', requestIds: ['00000000-0000-4000-8000-000000999999'] },
    {
      api,
      ledger: () => Promise.reject(new Error('not asked for')),
      clock,
      folder,
      file: undefined,
      template: parseTemplate(defaultTemplate),
      overwrite: false,
      concurrency: 8,
      waitMs: undefined,
      onEvent: (event) => {
        if (event.name === 'received' && event.bytes > 0) passed(event.bytes)
      },
    },
  )
  await folder.close()
  if (failure !== undefined) throw failure
  return performance.now() - began
}

const cold = await file(path)
rmSync(path, { recursive: true })
const warm = await file(path)
await http.close()
const megabytes = process.resourceUsage().maxRSS / 1024
writeSync(1, JSON.stringify({ cold, milliseconds: warm, megabytes }))
