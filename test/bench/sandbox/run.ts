/*
 * Measures how fast the sandbox answers, compared with a bare node:http server that sends the same bytes, in the same
 * run; and how much 100,000 stored requests slow the sandbox down.
 * Run: node test/bench/sandbox/run.ts
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { median, printFigures } from '../measuring.ts'
import { measureLoad, formatHttpRequest } from './load.ts'

const rounds = 5
const folder = mkdtempSync(join(tmpdir(), 'sandbox-bench-'))
const serverProgram = new URL('server.ts', import.meta.url).pathname

interface RunningServer {
  child: ChildProcess
  url: string
  id: string
  headers: Record<string, string>
  startMs: number
}

async function startServer(...args: string[]): Promise<RunningServer> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [serverProgram, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  )
  const address = JSON.parse(line) as Omit<RunningServer, 'child' | 'startMs'>
  await (await fetch(`${address.url}/v1/ping`)).arrayBuffer()
  return { ...address, child, startMs: performance.now() - startedAt }
}

const orderBody = JSON.stringify((await import('./order.ts')).order)

async function fetchText(server: RunningServer, path: string, method = 'GET'): Promise<string> {
  const init = { method, headers: server.headers, ...(method === 'POST' && { body: orderBody }) }
  return (await fetch(server.url + path, init)).text()
}

const formatRead = ({ id, headers }: RunningServer): Buffer =>
  formatHttpRequest('GET', `/v1/requests/${id}`, headers)
const formatCreate = ({ headers }: RunningServer): Buffer =>
  formatHttpRequest('POST', '/v1/requests', headers, orderBody)

/** Returns the median ratio of the requests a second of `first` to those of `second`. */
async function measureRatio(
  first: RunningServer,
  second: RunningServer,
  formatRequest: (server: RunningServer) => Buffer,
  count: number,
): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [
      await measureLoad(first.url, formatRequest(first), count),
      await measureLoad(second.url, formatRequest(second), count),
    ] as const
    if (round > 0) ratios.push(pair[0] / pair[1])
    if (round === rounds)
      process.stdout.write(`  last pair: ${pair.map(Math.round).join(' and ')} a second\n`)
  }
  return median(ratios)
}

const smallSandbox = await startServer('sandbox', '1')
const files = ['read.json', 'create.json'].map((name) => join(folder, name))
writeFileSync(files[0] ?? '', await fetchText(smallSandbox, `/v1/requests/${smallSandbox.id}`))
writeFileSync(files[1] ?? '', await fetchText(smallSandbox, '/v1/requests', 'POST'))
const bare = await startServer('bare', ...files)
const children = [smallSandbox.child, bare.child]
try {
  const readRatio = await measureRatio(smallSandbox, bare, formatRead, 8000)
  const createRatio = await measureRatio(smallSandbox, bare, formatCreate, 8000)
  const largeSandbox = await startServer('sandbox', '100000')
  children.push(largeSandbox.child)
  const slowdown = 1 / (await measureRatio(largeSandbox, smallSandbox, formatRead, 8000))
  largeSandbox.child.kill()
  const startRatios: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [sandbox, bareServer] = [await startServer('sandbox', '0'), await startServer('bare', ...files)]
    startRatios.push(sandbox.startMs / bareServer.startMs)
    sandbox.child.kill()
    bareServer.child.kill()
  }
  printFigures([
    { label: 'reads a second, to bare node:http', value: readRatio, atLeast: 0.5 },
    { label: 'creates a second, to bare node:http', value: createRatio, atLeast: 0.3 },
    { label: 'reads with 100,000 requests stored, slower by', value: slowdown, atMost: 1.3 },
    { label: 'start to first answer, to bare node:http', value: median(startRatios), atMost: 4 },
  ])
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true })
}
