import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'

import { expect, test } from 'vitest'

import { faultRow } from '../harness/faults/fault-row.ts'
import { measuredRun } from '../harness/faults/measured.ts'
import { type World, world } from '../harness/world.ts'
import { excelParts, zipped } from '../sheets/workbook.ts'

const fault = faultRow('bombs', 'taken in')

/** A machine with others at work takes many times of the five seconds that the row allows; what hangs is ended. */
const mostSeconds = 120
const mostMebibytes = 300

interface Bomb {
  name: string
  /** Head, a unit of a MiB repeated so often, tail. */
  content: string | Uint8Array | { head?: string; unit: string; mebibytes: number }
}

const nested = (unit: string): string => unit.repeat(5_000_000)
const unsigned = `X-Service-Signature: ${'a'.repeat(64)}`
const gzip = gzipSync(Buffer.alloc(100 * 1024 * 1024))
const laughs = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`)

/** Each reader, as a command line with FILE in it, and what it is handed. */
const bombs: readonly [line: string, bomb: Bomb][] = [
  ...['[', '{"a":'].flatMap((unit): [string, Bomb][] =>
    [
      'batch validate FILE --package 102',
      'request create --file FILE --yes',
      'batch reconcile --events FILE',
      'webhook events import FILE',
      'webhook verify --har FILE',
      'sandbox restore FILE',
      'sandbox start --port 0 --fixture FILE',
    ].map((line) => [line, { name: 'nested.json', content: nested(unit) }]),
  ),
  ...[
    'batch validate FILE --package 102',
    'request create --file FILE --yes',
    'batch reconcile --events FILE',
    'webhook events import FILE',
    'webhook verify --http FILE',
    'sandbox restore FILE',
    'sandbox start --port 0 --fixture FILE',
  ].map((line): [string, Bomb] => [line, { name: 'huge.json', content: { unit: '[', mebibytes: 300 } }]),
  [
    'batch validate FILE --package 102',
    { name: 'quote.csv', content: { head: 'a,b\n"', unit: 'x', mebibytes: 300 } },
  ],
  ['batch validate FILE --package 102', { name: 'line.jsonl', content: { unit: '{"a":', mebibytes: 300 } }],
  [
    'sandbox start --port 0 --fixture FILE',
    { name: 'laughs.yaml', content: `a0: &a0 [x]\n${laughs.join('\n')}` },
  ],
  [
    'webhook verify --http FILE',
    { name: 'lines.http', content: `POST / HTTP/1.1\r\n${'A: b\r\n'.repeat(2_000_000)}\r\n{}` },
  ],
  [
    'webhook verify --http FILE',
    {
      name: 'chunks.http',
      content: `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${unsigned}\r\n\r\n${'1\r\na\r\n'.repeat(2_000_000)}0\r\n\r\n`,
    },
  ],
  [
    'webhook verify --http FILE',
    {
      name: 'gzip.http',
      content: Buffer.concat([
        Buffer.from(
          `POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: ${gzip.length}\r\n${unsigned}\r\n\r\n`,
        ),
        gzip,
      ]),
    },
  ],
]

function lay(folder: string, { name, content }: Bomb): void {
  const file = openSync(join(folder, name), 'w', 0o600)
  if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(file, content)
  else {
    writeSync(file, content.head ?? '')
    const unit = Buffer.alloc(1024 * 1024, content.unit)
    for (let at = 0; at < content.mebibytes; at += 1) writeSync(file, unit)
  }
  closeSync(file)
}

/** What is wrong with how a bomb was met; undefined where it was refused early, by a sentence. */
async function met(here: World, line: string, env: Record<string, string> = {}): Promise<string | undefined> {
  const run = await measuredRun(here.folder, line.split(' '), { ...here.env, ...env }, mostSeconds * 1000)
  const isRefused = run.code !== null && run.code !== 0 && /^Error: (?!internal error)/m.test(run.stderr)
  took.seconds = Math.max(took.seconds, run.seconds)
  took.mebibytes = Math.max(took.mebibytes, run.mebibytes)
  if (isRefused && run.mebibytes < mostMebibytes) return undefined
  return `${line}: exit ${run.code}, ${run.seconds.toFixed(1)} s, ${run.mebibytes.toFixed(0)} MiB: ${run.stderr.slice(0, 300)}`
}

const took = { seconds: 0, mebibytes: 0 }

test('whatever is handed to a reader, it is refused early and in little memory', async () => {
  const here = await world()
  const wrong: string[] = []
  for (const [line, bomb] of bombs) {
    lay(here.folder, bomb)
    const what = await met(here, line.replace('FILE', bomb.name))
    if (what !== undefined) wrong.push(`${bomb.name}: ${what}`)
  }
  const archive = { ...excelParts(''), 'xl/worksheets/sheet1.xml': Buffer.alloc(260 * 1024 * 1024, ' ') }
  lay(here.folder, { name: 'bomb.xlsx', content: await zipped(archive) })
  const packed = await met(here, 'batch validate bomb.xlsx --package 102')
  if (packed !== undefined) wrong.push(packed)
  const cases = bombs.length + 1
  fault.cases(cases, cases - wrong.length)
  fault.says(`at most ${took.mebibytes.toFixed(0)} MiB and ${took.seconds.toFixed(1)} s`)
  expect(wrong).toEqual([])
}, 600_000)

test('settings, keys and stores that somebody prepared are refused as well', async () => {
  const here = await world()
  const wrong: string[] = []
  const kept: readonly [file: string, line: string, content: Bomb['content']][] = [
    ['config.json', 'config list', nested('[').slice(0, 4_000_000)],
    ['config.json', 'config list', { unit: '[', mebibytes: 300 }],
    ['credentials.json', 'users list', nested('[').slice(0, 1_000_000)],
    ['credentials.json', 'users list', { unit: '[', mebibytes: 300 }],
  ]
  const config = here.env['REFCHECK_CONFIG_DIR'] ?? ''
  const { apiKey, userEmail } = here.sandbox.credentials
  const login = ['auth', 'login', '--profile', 'work', '--with-key', '--insecure-storage']
  const whose = ['--base-url', here.url, '--email', userEmail]
  expect((await here.run([...login, ...whose], { stdin: apiKey })).code).toBe(0)
  const settings = readFileSync(join(config, 'config.json'), 'utf8')
  for (const [file, line, content] of kept) {
    lay(config, { name: 'config.json', content: settings })
    lay(config, { name: file, content })
    const env = {
      REFCHECK_API_KEY: '',
      REFCHECK_BASE_URL: '',
      REFCHECK_USER_EMAIL: '',
      REFCHECK_PROFILE: 'work',
    }
    const what = await met(here, line, env)
    if (what !== undefined) wrong.push(what)
  }
  lay(config, { name: 'config.json', content: settings })
  const store = join(here.folder, 'store.sqlite')
  expect((await here.run(['store', 'migrate'], { env: { REFCHECK_STORE: store } })).code).toBe(0)
  const database = new DatabaseSync(store)
  database.exec(
    `PRAGMA foreign_keys = OFF; DROP TABLE meta; CREATE VIEW meta AS
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS name, i AS value FROM n`,
  )
  database.close()
  const lines = [
    'batch list',
    'store check',
    'store info',
    `store backup ${join(here.folder, 'copy.sqlite')}`,
  ]
  for (const line of lines) {
    const what = await met(here, line, { REFCHECK_STORE: store })
    if (what !== undefined) wrong.push(what)
  }
  const cases = kept.length + lines.length
  fault.cases(cases, cases - wrong.length)
  expect(wrong).toEqual([])
}, 300_000)
