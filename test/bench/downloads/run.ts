/*
 * How fast reports come to disk, checked, hashed and flushed, beside `curl -Z` on the same URLs in one
 * run, on bare loopback and with 40 ms of latency; and how much memory a large one takes.
 * Run: npm run build && node test/bench/downloads/run.ts [ROUNDS]
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const rounds = Number(process.argv[2] ?? 7)
const count = 200
const bytes = 300_000
const folder = mkdtempSync(join(tmpdir(), 'downloads-bench-'))
const server = new URL('server.ts', import.meta.url).pathname
const client = new URL('client.ts', import.meta.url).pathname

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

interface Told {
  milliseconds: number
  /** Of the first time in a process. */
  cold: number
  megabytes: number
}

function ours(url: string, expected: number, size: number): Told {
  const path = fresh()
  const told = execFileSync(process.execPath, [client, url, path], { encoding: 'utf8' })
  emptied(path, expected, size)
  return JSON.parse(told) as Told
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

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const print = (what: string, value: string, goal: string): void =>
  void process.stdout.write(`${what.padEnd(46)} ${value.padStart(8)}   ${goal}\n`)
const hasCurl = spawnSync('curl', ['--version']).status === 0

async function besideCurl(latencyMs: number, goal: string): Promise<void> {
  const service = await serve(count, bytes, latencyMs)
  const ratios: number[] = []
  const coldRatios: number[] = []
  let last = ''
  for (let round = 0; round <= rounds; round += 1) {
    const peer = hasCurl ? curl(service.url) : Number.NaN
    const own = ours(service.url, count, bytes)
    if (round > 0) {
      ratios.push(peer / own.milliseconds)
      coldRatios.push(peer / own.cold)
    }
    last = `${Math.round(own.milliseconds)} ms to ${Math.round(peer)} ms, ${Math.round(own.megabytes)} MB`
  }
  const calls = await service.calls()
  service.stop()
  print(
    `rate to curl -Z, ${latencyMs} ms of latency`,
    median(ratios).toFixed(2),
    `${goal}; last pair ${last}`,
  )
  print('the same, first time in a process', median(coldRatios).toFixed(2), '')
  print('quota calls a run', (calls / (rounds + 1) / 2).toFixed(0), 'goal 1')
}

try {
  process.stdout.write(`${count} PDFs of ${bytes / 1000} KB, 8 at a time, median of ${rounds} pairs\n`)
  await besideCurl(0, 'goal at least 0.45')
  await besideCurl(40, 'goal at least 0.85')
  const large = await serve(1, 500_000_000, 0)
  const { megabytes, milliseconds } = ours(large.url, 1, 500_000_000)
  large.stop()
  print('peak memory with one PDF of 500 MB', `${Math.round(megabytes)} MB`, 'goal below 130 MB')
  print('its rate', `${Math.round(500_000 / milliseconds)} MB/s`, '')
} finally {
  rmSync(folder, { recursive: true })
}
