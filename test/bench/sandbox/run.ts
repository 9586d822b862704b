/*
 * How fast the sandbox answers compared with a bare node:http server with the same bytes, in one run, and
 * whether 100,000 stored requests slow it down. Run: node test/bench/sandbox/run.ts
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { median, printFigures } from '../measuring.ts'
import { load, wire } from './load.ts'

const rounds = 5
const folder = mkdtempSync(join(tmpdir(), 'sandbox-bench-'))
const server = new URL('server.ts', import.meta.url).pathname

interface Running {
  child: ChildProcess
  url: string
  id: string
  headers: Record<string, string>
  startMs: number
}

async function start(...args: string[]): Promise<Running> {
  const began = performance.now()
  const child = spawn(process.execPath, [server, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  )
  const address = JSON.parse(line) as Omit<Running, 'child' | 'startMs'>
  await (await fetch(`${address.url}/v1/ping`)).arrayBuffer()
  return { ...address, child, startMs: performance.now() - began }
}

const body = JSON.stringify((await import('./order.ts')).order)

async function textOf(of: Running, path: string, method = 'GET'): Promise<string> {
  const init = { method, headers: of.headers, ...(method === 'POST' && { body }) }
  return (await fetch(of.url + path, init)).text()
}

const read = (of: Running): Buffer => wire('GET', `/v1/requests/${of.id}`, of.headers)
const create = (of: Running): Buffer => wire('POST', '/v1/requests', of.headers, body)

async function ratio(
  a: Running,
  b: Running,
  of: (running: Running) => Buffer,
  count: number,
): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [await load(a.url, of(a), count), await load(b.url, of(b), count)] as const
    if (round > 0) ratios.push(pair[0] / pair[1])
    if (round === rounds)
      process.stdout.write(`  last pair: ${pair.map(Math.round).join(' and ')} a second\n`)
  }
  return median(ratios)
}

const few = await start('sandbox', '1')
const files = ['read.json', 'create.json'].map((name) => join(folder, name))
writeFileSync(files[0] ?? '', await textOf(few, `/v1/requests/${few.id}`))
writeFileSync(files[1] ?? '', await textOf(few, '/v1/requests', 'POST'))
const bare = await start('bare', ...files)
const children = [few.child, bare.child]
try {
  const reads = await ratio(few, bare, read, 8000)
  const creates = await ratio(few, bare, create, 8000)
  const many = await start('sandbox', '100000')
  children.push(many.child)
  const slower = 1 / (await ratio(many, few, read, 8000))
  many.child.kill()
  const starts: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [one, other] = [await start('sandbox', '0'), await start('bare', ...files)]
    starts.push(one.startMs / other.startMs)
    one.child.kill()
    other.child.kill()
  }
  printFigures([
    { what: 'reads a second, to bare node:http', value: reads, atLeast: 0.5 },
    { what: 'creates a second, to bare node:http', value: creates, atLeast: 0.3 },
    { what: 'reads with 100,000 requests stored, slower by', value: slower, atMost: 1.3 },
    { what: 'start to first answer, to bare node:http', value: median(starts), atMost: 4 },
  ])
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true })
}
