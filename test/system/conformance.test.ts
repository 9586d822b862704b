import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import type { ConformanceReport } from '../../src/conformance/case.ts'
import { type ConformanceOptions, runConformance } from '../../src/conformance/run.ts'
import { systemClock } from '../../src/host/clock.ts'
import { HttpClient } from '../../src/http/client.ts'

/** Runs the suite in real time against the Python service, with the given defect planted in it (`''` for none). */
async function runSuite(
  defect: string,
  isSelected: ConformanceOptions['isSelected'],
): Promise<ConformanceReport> {
  const file = join(import.meta.dirname, 'conformance', 'service.py')
  const service = spawn('python3', [file, defect], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void service.kill('SIGKILL'))
  const [port] = (await once(service.stdout, 'data')) as [Buffer]
  const http = new HttpClient({ clock: systemClock, env: {}, userAgent: 'refcheck-test' })
  onTestFinished(() => http.close())
  return runConformance({
    http,
    clock: systemClock,
    target: {
      baseUrl: `http://127.0.0.1:${String(port).trim()}`,
      apiKey: `${'p'.repeat(31)}Y`,
      userEmail: 'pia@py.example.org',
      secondEmail: 'moe@py.example.org',
      foreignUser: { apiKey: `${'q'.repeat(31)}Z`, userEmail: 'far@py.example.org' },
    },
    allowCreate: true,
    watchMs: 20_000,
    isSelected,
  })
}

const brokenCases = ({ cases }: ConformanceReport) =>
  cases.filter(({ verdict }) => verdict === 'broken').map(({ id, findings }) => ({ id, findings }))

test(
  'a service on http.server that follows the API document breaks no rule',
  { timeout: 120_000 },
  async () => {
    const report = await runSuite('', undefined)
    expect(brokenCases(report)).toEqual([])
    expect(report.counts.holds).toBeGreaterThan(80)
  },
)

test.each([
  ['message-without-path', 'create.missing-fields'],
  ['any-email', 'create.email'],
  ['phone-of-16', 'create.phone'],
  ['orders-inactive', 'create.package-inactive'],
  ['code-twice', 'create.duplicate-codes'],
  ['any-type', 'create.information-types'],
  ['check-without-id', 'requests.check-ids'],
  ['same-url', 'requests.fresh-urls'],
  ['trims-names', 'create.readable'],
  ['kind-of-404', 'answers.status-message'],
  ['report-may-be-cached', 'answers.cache-headers'],
  ['any-user', 'authentication.unknown-user'],
  ['any-role', 'packages.by-role'],
  ['any-token', 'reports.token-invalid'],
  ['no-id-filter', 'packages.filter-id'],
  ['any-organisation', 'authentication.other-organisation'],
])('the planted defect %s is found by %s', { timeout: 60_000 }, async (defect, caseId) => {
  // The case of the cache headers compares the answers of other cases, so a case that downloads a report runs as well.
  const relatedCaseId = caseId === 'answers.cache-headers' ? 'reports.by-headers' : caseId
  const report = await runSuite(defect, ({ id }) => id === caseId || id === relatedCaseId)
  expect(brokenCases(report).map(({ id }) => id)).toContain(caseId)
})
