/*
 * A shell loop over many requests: `request get ID --json` again and again, each a process of its own, against a
 * sandbox process; compared with as many starts of bare node in the same run, in blocks by turns.
 * Run: npm run build && node test/bench/reads/run.ts [READS]
 */
import { median, medianRatio, printFigures } from '../measuring.ts'
import { bareNode, home, milliseconds, sandboxProcess } from '../program.ts'

const [reads = 1000] = process.argv.slice(2).map(Number)
const blockSize = 20

const here = home()
const sandbox = await sandboxProcess(here)
const env = { ...here.env, ...sandbox.env }

/** A request to read; its id. */
async function ordered(): Promise<string> {
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

function block(count: number, once: () => number): number {
  let sum = 0
  for (let done = 0; done < count; done += 1) sum += once()
  return sum
}

try {
  const id = await ordered()
  const read = (): number =>
    milliseconds(process.execPath, [here.program, 'request', 'get', id, '--json'], env)
  read()
  const blocks: [own: number, peer: number][] = []
  for (let done = 0; done < reads; done += blockSize) {
    const count = Math.min(blockSize, reads - done)
    blocks.push([block(count, read), block(count, () => bareNode(env))])
  }
  const total = blocks.reduce((sum, [own]) => sum + own, 0)
  const fifth = Math.ceil(blocks.length / 5)
  const early = medianRatio(blocks.slice(0, fifth))
  const late = medianRatio(blocks.slice(-fifth))
  printFigures([
    {
      what: `${reads} reads one after another, to as many starts of bare node`,
      value: medianRatio(blocks),
      atMost: 3.8,
      note: `${Math.round(total / reads)} ms each, ${(total / 1000).toFixed(0)} s together`,
    },
    {
      what: 'the last fifth of them to the first',
      value: late / early,
      atMost: 1.15,
      note: `of blocks of ${blockSize}; ${Math.round(median(blocks.map(([, peer]) => peer)) / blockSize)} ms a start`,
    },
  ])
} finally {
  await sandbox.stop()
  here.remove()
}
