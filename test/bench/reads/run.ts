/*
 * Measures repeated `request get ID --json`, as a shell loop over many requests runs it: each in a new process, with a
 * sandbox process. Blocks of reads alternate with blocks of as many starts of bare Node.js, with which they are compared.
 * Run: npm run build && node test/bench/reads/run.ts [READS]
 */
import { median, medianRatio, printFigures } from '../measuring.ts'
import { measureBareNode, createHome, measureProcess, startSandboxProcess } from '../program.ts'

const [readCount = 1000] = process.argv.slice(2).map(Number)
const blockSize = 20

const home = createHome()
const sandbox = await startSandboxProcess(home)
const env = { ...home.env, ...sandbox.env }

/** Creates the request that is read, and returns its id. */
async function createRequest(): Promise<string> {
  const recipient = {
    first_name: 'Ana',
    last_name: 'Silva',
    email: 'ana@example.com',
    phone: '+61400000001',
  }
  const answer = await fetch(`${sandbox.url}/v1/requests`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': sandbox.apiKey,
      'x-service-user-email': sandbox.userEmail,
    },
    body: JSON.stringify({ package_id: 102, recipient }),
  })
  const { data } = (await answer.json()) as { data: { request_id: string } }
  return data.request_id
}

function measureBlock(count: number, measureOnce: () => number): number {
  let sum = 0
  for (let turn = 0; turn < count; turn += 1) sum += measureOnce()
  return sum
}

try {
  const id = await createRequest()
  const measureRead = (): number =>
    measureProcess(process.execPath, [home.program, 'request', 'get', id, '--json'], env)
  measureRead()
  const blocks: [ours: number, peer: number][] = []
  for (let firstRead = 0; firstRead < readCount; firstRead += blockSize) {
    const count = Math.min(blockSize, readCount - firstRead)
    blocks.push([measureBlock(count, measureRead), measureBlock(count, () => measureBareNode(env))])
  }
  const totalMs = blocks.reduce((sum, [ours]) => sum + ours, 0)
  const fifthLength = Math.ceil(blocks.length / 5)
  const firstRatio = medianRatio(blocks.slice(0, fifthLength))
  const lastRatio = medianRatio(blocks.slice(-fifthLength))
  printFigures([
    {
      label: `${readCount} reads one after another, to as many starts of bare node`,
      value: medianRatio(blocks),
      atMost: 3.8,
      note: `${Math.round(totalMs / readCount)} ms each, ${(totalMs / 1000).toFixed(0)} s together`,
    },
    {
      label: 'the last fifth of them to the first',
      value: lastRatio / firstRatio,
      atMost: 1.15,
      note: `of blocks of ${blockSize}; ${Math.round(median(blocks.map(([, peer]) => peer)) / blockSize)} ms a start`,
    },
  ])
} finally {
  await sandbox.stop()
  home.remove()
}
