/*
 * Measures how fast reports are downloaded, checked, hashed and flushed to disk, compared with `curl -Z` on the same
 * URLs in the same run, without latency and with 40 ms of latency; and the peak memory with one large report.
 * Run: node test/bench/downloads/run.ts [ROUNDS]
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { rolldown } from 'rolldown'

import { type Figure, median, printFigures } from '../measuring.ts'
import { findInstalled } from '../program.ts'

const rounds = Number(process.argv[2] ?? 7)
const reportCount = 200
const reportBytes = 300_000
const folder = mkdtempSync(join(tmpdir(), 'downloads-bench-'))
const serverProgram = new URL('server.ts', import.meta.url).pathname
const clientBundle = join(folder, 'client.mjs')

/** Bundles the client as the program is bundled: removing types at run time would need additional memory. */
async function bundleClient(): Promise<void> {
  const source = new URL('client.ts', import.meta.url).pathname
  const bundle = await rolldown({ input: source, platform: 'node', external: ['@napi-rs/keyring'] })
  await bundle.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
  await bundle.close()
}

interface Service {
  url: string
  calls(): Promise<number>
  stop(): void
}

async function startService(reports: number, size: number, latencyMs: number): Promise<Service> {
  const argv = [serverProgram, ...[reports, size, latencyMs].map(String)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  return {
    url,
    calls: async () => Number(await (await fetch(`${url}/calls`)).text()),
    stop: () => void child.kill(),
  }
}

function createOutputFolder(): string {
  return mkdtempSync(join(folder, 'out-'))
}

function checkAndRemove(path: string, expected: number, size: number): void {
  const files = readdirSync(path).filter((name) => name.endsWith('.pdf'))
  const completeFiles = files.filter((name) => statSync(join(path, name)).size === size)
  if (completeFiles.length !== expected)
    throw new Error(`${completeFiles.length} of ${expected} files are whole`)
  rmSync(path, { recursive: true })
}

interface ClientReport {
  /** Duration of the second download, whose code has already run. */
  durationMs: number
  /** Duration of the first download in the process. */
  coldMs: number
  megabytes: number
}

function runOurs(url: string, expected: number, size: number): ClientReport {
  const path = createOutputFolder()
  const printed = execFileSync(process.execPath, [clientBundle, url, path], { encoding: 'utf8' })
  checkAndRemove(path, expected, size)
  return JSON.parse(printed) as ClientReport
}

function runCurl(url: string): number {
  const path = createOutputFolder()
  const config = join(folder, 'curl.conf')
  const lines = Array.from({ length: reportCount }, (_, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    return `url = "${url}/v1/reports/${id}?t=token"\noutput = "${join(path, `${id}.pdf`)}"\n`
  })
  writeFileSync(config, lines.join(''))
  const startedAt = performance.now()
  execFileSync('curl', ['-s', '-Z', '--parallel-max', '8', '-K', config], { stdio: 'ignore' })
  const durationMs = performance.now() - startedAt
  checkAndRemove(path, reportCount, reportBytes)
  return durationMs
}

const hasCurl = findInstalled('curl') !== undefined

async function compareWithCurl(latencyMs: number, atLeast: number): Promise<Figure[]> {
  const service = await startService(reportCount, reportBytes, latencyMs)
  const ratios: number[] = []
  const coldRatios: number[] = []
  let lastPair = ''
  let calls: number
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const peer = hasCurl ? runCurl(service.url) : Number.NaN
      const ours = runOurs(service.url, reportCount, reportBytes)
      if (round > 0) {
        ratios.push(peer / ours.durationMs)
        coldRatios.push(peer / ours.coldMs)
      }
      lastPair = `${Math.round(ours.durationMs)} ms to ${Math.round(peer)} ms, ${Math.round(ours.megabytes)} MB`
    }
    calls = await service.calls()
  } finally {
    service.stop()
  }
  const condition = `${latencyMs} ms of latency`
  return [
    {
      label: `rate of ${reportCount} PDFs to curl -Z, ${condition}`,
      value: median(ratios),
      atLeast,
      note: `last pair ${lastPair}`,
    },
    { label: `the same, first time in a process, ${condition}`, value: median(coldRatios) },
    { label: `quota calls a run, ${condition}`, value: calls / (rounds + 1) / 2, atMost: 1 },
  ]
}

/** Measures the peak memory with one PDF of 500 MB. */
async function measureLargeReport(): Promise<Figure[]> {
  const size = 500_000_000
  const service = await startService(1, size, 0)
  try {
    const { megabytes, durationMs } = runOurs(service.url, 1, size)
    return [
      {
        label: 'peak memory with one PDF of 500 MB',
        value: megabytes,
        unit: ' MB',
        atMost: 130,
        note: `${Math.round(size / 1000 / durationMs)} MB/s`,
      },
    ]
  } finally {
    service.stop()
  }
}

try {
  await bundleClient()
  process.stdout.write(
    `${reportCount} PDFs of ${reportBytes / 1000} KB, 8 at a time, medians of ${rounds} pairs\n`,
  )
  printFigures([
    ...(await compareWithCurl(0, 0.45)),
    ...(await compareWithCurl(40, 0.85)),
    ...(await measureLargeReport()),
  ])
} finally {
  rmSync(folder, { recursive: true })
}
