/*
 * How fast reports come to disk, checked, hashed and flushed, compared with `curl -Z` on the same URLs in one
 * run, on bare loopback and with 40 ms of latency; and how much memory a large one takes.
 * Run: node test/bench/downloads/run.ts [ROUNDS]
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { rolldown } from 'rolldown'

import { type Figure, median, printFigures } from '../measuring.ts'
import { installed } from '../program.ts'

const rounds = Number(process.argv[2] ?? 7)
const count = 200
const bytes = 300_000
const folder = mkdtempSync(join(tmpdir(), 'downloads-bench-'))
const server = new URL('server.ts', import.meta.url).pathname
const client = join(folder, 'client.mjs')

/** The client as it would be shipped: taking the types out as it runs takes memory of its own. */
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

async function serve(reports: number, size: number, latencyMs: number): Promise<Service> {
  const argv = [server, ...[reports, size, latencyMs].map(String)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  return {
    url,
    calls: async () => Number(await (await fetch(`${url}/calls`)).text()),
    stop: () => void child.kill(),
  }
}

function fresh(): string {
  return mkdtempSync(join(folder, 'out-'))
}

function emptied(path: string, expected: number, size: number): void {
  const files = readdirSync(path).filter((name) => name.endsWith('.pdf'))
  const whole = files.filter((name) => statSync(join(path, name)).size === size)
  if (whole.length !== expected) throw new Error(`${whole.length} of ${expected} files are whole`)
  rmSync(path, { recursive: true })
}

interface ClientReport {
  milliseconds: number
  /** Of the first time in a process. */
  cold: number
  megabytes: number
}

function ours(url: string, expected: number, size: number): ClientReport {
  const path = fresh()
  const printed = execFileSync(process.execPath, [client, url, path], { encoding: 'utf8' })
  emptied(path, expected, size)
  return JSON.parse(printed) as ClientReport
}

function curl(url: string): number {
  const path = fresh()
  const config = join(folder, 'curl.conf')
  const lines = Array.from({ length: count }, (_, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    return `url = "${url}/v1/reports/${id}?t=token"\noutput = "${join(path, `${id}.pdf`)}"\n`
  })
  writeFileSync(config, lines.join(''))
  const began = performance.now()
  execFileSync('curl', ['-s', '-Z', '--parallel-max', '8', '-K', config], { stdio: 'ignore' })
  const milliseconds = performance.now() - began
  emptied(path, count, bytes)
  return milliseconds
}

const hasCurl = installed('curl') !== undefined

async function comparedWithCurl(latencyMs: number, atLeast: number): Promise<Figure[]> {
  const service = await serve(count, bytes, latencyMs)
  const ratios: number[] = []
  const coldRatios: number[] = []
  let last = ''
  let calls: number
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const peer = hasCurl ? curl(service.url) : Number.NaN
      const own = ours(service.url, count, bytes)
      if (round > 0) {
        ratios.push(peer / own.milliseconds)
        coldRatios.push(peer / own.cold)
      }
      last = `${Math.round(own.milliseconds)} ms to ${Math.round(peer)} ms, ${Math.round(own.megabytes)} MB`
    }
    calls = await service.calls()
  } finally {
    service.stop()
  }
  const among = `${latencyMs} ms of latency`
  return [
    {
      what: `rate of ${count} PDFs to curl -Z, ${among}`,
      value: median(ratios),
      atLeast,
      note: `last pair ${last}`,
    },
    { what: `the same, first time in a process, ${among}`, value: median(coldRatios) },
    { what: `quota calls a run, ${among}`, value: calls / (rounds + 1) / 2, atMost: 1 },
  ]
}

/** One PDF of 500 MB. */
async function large(): Promise<Figure[]> {
  const size = 500_000_000
  const service = await serve(1, size, 0)
  try {
    const { megabytes, milliseconds } = ours(service.url, 1, size)
    return [
      {
        what: 'peak memory with one PDF of 500 MB',
        value: megabytes,
        unit: ' MB',
        atMost: 130,
        note: `${Math.round(size / 1000 / milliseconds)} MB/s`,
      },
    ]
  } finally {
    service.stop()
  }
}

try {
  await bundleClient()
  process.stdout.write(`${count} PDFs of ${bytes / 1000} KB, 8 at a time, medians of ${rounds} pairs\n`)
  printFigures([
    ...(await comparedWithCurl(0, 0.45)),
    ...(await comparedWithCurl(40, 0.85)),
    ...(await large()),
  ])
} finally {
  rmSync(folder, { recursive: true })
}
