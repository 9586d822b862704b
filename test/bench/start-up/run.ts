/*
 * How soon the built program answers, as whole processes, each run in a pair with bare node: medians of the ratios.
 * Run: npm run build && node test/bench/start-up/run.ts [ROUNDS]
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import { fileBatch, orderRows } from '../../store/ledger/files.ts'
import { type Figure, inPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { bareNode, home, installed, milliseconds, pythonWith } from '../program.ts'

const [rounds = 15] = process.argv.slice(2).map(Number)
const secret = 'whsec-of-a-benchmark-0123456789ab'

interface Case {
  what: string
  argv: readonly string[]
  /** `refcheck` by default; undefined where it is not on this machine. */
  command?: string | undefined
  atMost?: number
}

const here = home()
const env = { ...here.env, REFCHECK_WEBHOOK_SECRET: secret }

/** A batch of 10,000 rows in the store that the program uses; its id. */
async function batchOfMany(): Promise<string> {
  const { folder } = here
  const paths = { config: join(folder, 'config'), data: join(folder, 'data') }
  const store = await openStore({
    chosen: undefined,
    paths,
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
  })
  const batch = fileBatch()
  await store.batches.add(batch, orderRows(10_000))
  await store.close()
  return batch.id
}

/** An event in a file; the flags that verify it. */
function event(): string[] {
  const body =
    '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"COMPLETED"}'
  const file = join(here.folder, 'event.json')
  writeFileSync(file, body)
  return [file, '--signature', sign(Buffer.from(body), signingKey(secret))]
}

async function measured({ what, command, argv, atMost }: Case): Promise<Figure> {
  if (command === undefined) return { what, value: Number.NaN, note: 'not on this machine' }
  const pairs = await inPairs(
    rounds,
    () => milliseconds(command, argv, env),
    () => bareNode(env),
  )
  const ms = Math.round(median(pairs.map(([own]) => own)))
  return { what, value: medianRatio(pairs), atMost, note: `${ms} ms` }
}

try {
  const ours = (line: string, atMost: number, more: readonly string[] = []): Case => ({
    what: `refcheck ${line}`,
    command: process.execPath,
    argv: [here.program, ...line.split(' '), ...more],
    atMost,
  })
  const cases: Case[] = [
    { what: 'node --version', command: process.execPath, argv: ['--version'] },
    ours('--version', 1.1),
    ours('--help', 1.1),
    ours('batch run --help', 1.1),
    ours('config list --json', 2),
    ours('batch list --json', 3),
    ours('webhook verify', 2.2, event()),
    { ...ours('batch status --json', 3, [await batchOfMany()]), what: 'refcheck batch status, 10,000 rows' },
    { what: 'curl --version', command: installed('curl'), argv: ['--version'] },
    { what: 'gh --version', command: installed('gh'), argv: ['--version'] },
    { what: 'gh alias list (does nothing)', command: installed('gh'), argv: ['alias', 'list'] },
    { what: 'python3 -c pass', command: pythonWith('urllib'), argv: ['-c', 'pass'] },
    {
      what: 'python3 -c "import requests"',
      command: pythonWith('requests'),
      argv: ['-c', 'import requests'],
    },
  ]
  process.stdout.write(`Whole processes, to bare node (node -e 0), medians of ${rounds} pairs\n`)
  const figures: Figure[] = []
  for (const each of cases) figures.push(await measured(each))
  printFigures(figures)
} finally {
  here.remove()
}
