/*
 * Measures how soon the built program answers: whole processes, each paired with a start of bare Node.js. The figures are
 * the medians of the ratios.
 * Run: npm run build && node test/bench/start-up/run.ts [ROUNDS]
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import { fileBatch, orderRows } from '../../store/ledger/files.ts'
import { type Figure, measureInPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { measureBareNode, createHome, findInstalled, measureProcess, findPython } from '../program.ts'

const [rounds = 15] = process.argv.slice(2).map(Number)
const secret = 'whsec-of-a-benchmark-0123456789ab'

interface Case {
  label: string
  argv: readonly string[]
  /** Undefined if the program is not on this machine. */
  command?: string | undefined
  atMost?: number
}

const home = createHome()
const env = { ...home.env, REFCHECK_WEBHOOK_SECRET: secret }

/** Adds a batch of 10,000 rows to the store of the program, and returns its id. */
async function addLargeBatch(): Promise<string> {
  const { folder } = home
  const paths = { config: join(folder, 'config'), data: join(folder, 'data') }
  const store = await openStore({
    chosenAddress: undefined,
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

/** Writes an event to a file, and returns the arguments that verify it. */
function writeEvent(): string[] {
  const body =
    '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"COMPLETED"}'
  const file = join(home.folder, 'event.json')
  writeFileSync(file, body)
  return [file, '--signature', sign(Buffer.from(body), signingKey(secret))]
}

async function measureCase({ label, command, argv, atMost }: Case): Promise<Figure> {
  if (command === undefined) return { label, value: Number.NaN, note: 'not on this machine' }
  const pairs = await measureInPairs(
    rounds,
    () => measureProcess(command, argv, env),
    () => measureBareNode(env),
  )
  const ms = Math.round(median(pairs.map(([ours]) => ours)))
  return { label, value: medianRatio(pairs), atMost, note: `${ms} ms` }
}

try {
  const createCase = (line: string, atMost: number, otherArguments: readonly string[] = []): Case => ({
    label: `refcheck ${line}`,
    command: process.execPath,
    argv: [home.program, ...line.split(' '), ...otherArguments],
    atMost,
  })
  const cases: Case[] = [
    { label: 'node --version', command: process.execPath, argv: ['--version'] },
    createCase('--version', 1.1),
    createCase('--help', 1.1),
    createCase('batch run --help', 1.1),
    createCase('config list --json', 2),
    createCase('batch list --json', 3),
    createCase('webhook verify', 2.2, writeEvent()),
    {
      ...createCase('batch status --json', 3, [await addLargeBatch()]),
      label: 'refcheck batch status, 10,000 rows',
    },
    { label: 'curl --version', command: findInstalled('curl'), argv: ['--version'] },
    { label: 'gh --version', command: findInstalled('gh'), argv: ['--version'] },
    { label: 'gh alias list (does nothing)', command: findInstalled('gh'), argv: ['alias', 'list'] },
    { label: 'python3 -c pass', command: findPython('urllib'), argv: ['-c', 'pass'] },
    {
      label: 'python3 -c "import requests"',
      command: findPython('requests'),
      argv: ['-c', 'import requests'],
    },
  ]
  process.stdout.write(`Whole processes, to bare node (node -e 0), medians of ${rounds} pairs\n`)
  const figures: Figure[] = []
  for (const each of cases) figures.push(await measureCase(each))
  printFigures(figures)
} finally {
  home.remove()
}
