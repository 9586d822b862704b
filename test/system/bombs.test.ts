import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { answerWithList, packageJson } from '../harness/faults/large-lists.ts'
import { measureRun } from '../harness/faults/measure-run.ts'
import { type World, world } from '../harness/world.ts'
import { formatAttributes, partsWithManySheets, odsParts, partsWithSheet } from '../sheets/large-workbooks.ts'
import { excelParts, type Parts, zipParts } from '../sheets/workbook.ts'

const bombsRow = recordForFaultTable('input-limits', { mustNotHappen: 'read', titles: /^(?!tables|answers)/ })
const answersRow = recordForFaultTable('answer-limits', { mustNotHappen: 'read', titles: /^answers/ })
const tablesRow = recordForFaultTable('tables', { mustNotHappen: 'read', titles: /^tables/ })

/** Much more than the goal of five seconds in the fault table, because the machine may be busy. */
const maxSeconds = 120
const maxMebibytes = 300

interface Bomb {
  name: string
  /** The whole content, or a head and a unit that fills that number of MiB. */
  content: string | Uint8Array | { head?: string; unit: string; mebibytes: number }
}

const repeatUnit = (unit: string): string => unit.repeat(5_000_000)
const unsigned = `X-Service-Signature: ${'a'.repeat(64)}`
const gzip = gzipSync(Buffer.alloc(100 * 1024 * 1024))
const yamlAliases = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`)

/** Command lines that read FILE, each with the content of the file. */
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
    ].map((line) => [line, { name: 'nested.json', content: repeatUnit(unit) }]),
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
    { name: 'laughs.yaml', content: `a0: &a0 [x]\n${yamlAliases.join('\n')}` },
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

function writeBomb(folder: string, { name, content }: Bomb): void {
  const file = openSync(join(folder, name), 'w', 0o600)
  if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(file, content)
  else {
    writeSync(file, content.head ?? '')
    const unit = Buffer.alloc(1024 * 1024, content.unit)
    for (let at = 0; at < content.mebibytes; at += 1) writeSync(file, unit)
  }
  closeSync(file)
}

/**
 * Runs a command line that reads a bomb. Returns undefined if it was refused early with a message that contains
 * `message`, or else the failure.
 */
async function findFailure(
  here: World,
  line: string,
  { message = '', env = {} }: { message?: string; env?: Record<string, string> } = {},
): Promise<string | undefined> {
  const run = await measureRun(here.folder, line.split(' '), { ...here.env, ...env }, maxSeconds * 1000)
  const isRefused =
    run.code !== null &&
    run.code !== 0 &&
    /^Error: (?!internal error)/m.test(run.stderr) &&
    run.stderr.includes(message)
  maxima.seconds = Math.max(maxima.seconds, run.seconds)
  maxima.mebibytes = Math.max(maxima.mebibytes, run.mebibytes)
  if (isRefused && run.mebibytes < maxMebibytes) return undefined
  return `${line}: exit ${run.code}, ${run.seconds.toFixed(1)} s, ${run.mebibytes.toFixed(0)} MiB: ${run.stderr.slice(0, 300)}`
}

/** The highest figures of the runs so far, for a note in the fault table. */
const maxima = { seconds: 0, mebibytes: 0 }

test('every reader refuses every bomb early and with little memory', async () => {
  const here = await world()
  const failures: string[] = []
  for (const [line, bomb] of bombs) {
    writeBomb(here.folder, bomb)
    const failure = await findFailure(here, line.replace('FILE', bomb.name))
    if (failure !== undefined) failures.push(`${bomb.name}: ${failure}`)
  }
  const archive = { ...excelParts(''), 'xl/worksheets/sheet1.xml': Buffer.alloc(260 * 1024 * 1024, ' ') }
  writeBomb(here.folder, { name: 'bomb.xlsx', content: await zipParts(archive) })
  const workbookFailure = await findFailure(here, 'batch validate bomb.xlsx --package 102')
  if (workbookFailure !== undefined) failures.push(workbookFailure)
  const cases = bombs.length + 1
  bombsRow.countCases(cases, cases - failures.length)
  bombsRow.addNote(`at most ${maxima.mebibytes.toFixed(0)} MiB and ${maxima.seconds.toFixed(1)} s`)
  expect(failures).toEqual([])
}, 600_000)

const createAttribute = (at: number): string => `a${at}="1"`
const createNamespace = (at: number): string => `xmlns:n${at}="urn:n"`
const createTable = (at: number): string => `<table:table table:name="s${at}"/>`
const createTables = (count: number): string =>
  Array.from({ length: count }, (_, at) => createTable(at)).join('')

const largeWorkbooks: readonly [name: string, parts: () => Parts, message: string][] = [
  ['60000-sheets.xlsx', () => partsWithManySheets(60_000), 'it has more than 256 sheets'],
  ['300000-sheets.xlsx', () => partsWithManySheets(300_000), 'it has more than 256 sheets'],
  ['60000-sheets.ods', () => odsParts(createTables(60_000)), 'it has more than 256 sheets'],
  [
    'attributes.xlsx',
    () => partsWithSheet(`<x ${formatAttributes(3_000_000, createAttribute)}/>`),
    'more than 256 attributes',
  ],
  [
    'namespaces.xlsx',
    () => partsWithSheet(`<x ${formatAttributes(3_000_000, createNamespace)}/>`),
    'more than 256 attributes',
  ],
  [
    'attributes.ods',
    () => odsParts(`<table:table ${formatAttributes(3_000_000, createAttribute)}/>`),
    'more than 256 attributes',
  ],
  [
    'empty-sheets.ods',
    () => odsParts(`${createTables(250)}${'<a/>'.repeat(3_900_000)}`),
    'more than 48 MiB before their first rows',
  ],
]

const createPerson = (at: number): string =>
  `Ann,Row${at},ann.row${at}@example.com,+614${String(at).padStart(8, '0')}`
const createPeople = (count: number, createLine = createPerson): string =>
  `first_name,last_name,email,phone\n${Array.from({ length: count }, (_, at) => `${createLine(at)}\n`).join('')}`

test('tables with very many sheets, attributes or rows are refused early with a message', async () => {
  const here = await world()
  const failures: string[] = []
  const refusals: [name: string, message: string][] = largeWorkbooks.map(([name, , message]) => [
    name,
    message,
  ])
  for (const [name, parts] of largeWorkbooks)
    writeBomb(here.folder, { name, content: await zipParts(parts()) })
  writeBomb(here.folder, {
    name: '93-mebibytes.csv',
    content: { head: createPeople(1), unit: `${createPerson(7)}\n`, mebibytes: 93 },
  })
  refusals.push(['93-mebibytes.csv', 'it is larger than 64 MiB'])
  writeBomb(here.folder, { name: 'rows.csv', content: createPeople(1_100_000) })
  refusals.push(['rows.csv', 'it has more than 100000 rows'])
  maxima.seconds = 0
  maxima.mebibytes = 0
  for (const [name, message] of refusals) {
    const found = await findFailure(here, `batch validate ${name} --package 102`, { message })
    if (found !== undefined) failures.push(found)
  }
  tablesRow.countCases(refusals.length, refusals.length - failures.length)
  tablesRow.addNote(`at most ${maxima.mebibytes.toFixed(0)} MiB and ${maxima.seconds.toFixed(1)} s`)
  expect(failures).toEqual([])
}, 600_000)

const letters = 'abcdefghijklmnopqrstuvwxyz'
/** Returns a name of 9 letters, which is seldom similar to the name for another number. */
const createName = (at: number): string =>
  [at, at / 26, at / 676].map((each) => (letters[Math.floor(each) % 26] ?? '').repeat(3)).join('')
const createColleague = (at: number): string =>
  `${createName(at)},${createName(at * 7)},p${String(at)}@example.com,+61400000000`

test.each([
  ['of ordinary people', 100_000, createPerson],
  ['with long names', 100_000, (at: number) => createPerson(at).replaceAll('ow', 'o'.repeat(70))],
  ['of one phone', 94_000, createColleague],
])('a table of 100,000 rows %s is read', async (what, count, line) => {
  const here = await world()
  writeBomb(here.folder, { name: 'people.csv', content: createPeople(count, line) })
  const argv = ['batch', 'validate', 'people.csv', '--package', '102']
  const { code, stdout, seconds, mebibytes } = await measureRun(
    here.folder,
    argv,
    here.env,
    maxSeconds * 1000,
  )
  tablesRow.addNote(`100,000 rows ${what} read: ${mebibytes.toFixed(0)} MiB and ${seconds.toFixed(1)} s`)
  expect(stdout.slice(0, 40)).toMatch(`people.csv: ${String(count)} rows, ${String(count)} valid`)
  expect(code).toBe(0)
  expect(mebibytes).toBeLessThan(450)
})

test('bombs in settings, keys and stores are refused', async () => {
  const here = await world()
  const failures: string[] = []
  const files: readonly [file: string, line: string, content: Bomb['content']][] = [
    ['config.json', 'config list', repeatUnit('[').slice(0, 4_000_000)],
    ['config.json', 'config list', { unit: '[', mebibytes: 300 }],
    ['credentials.json', 'users list', repeatUnit('[').slice(0, 1_000_000)],
    ['credentials.json', 'users list', { unit: '[', mebibytes: 300 }],
  ]
  const config = here.env['REFCHECK_CONFIG_DIR'] ?? ''
  const { apiKey, userEmail } = here.sandbox.credentials
  const login = ['auth', 'login', '--profile', 'work', '--with-key', '--insecure-storage']
  const serviceFlags = ['--base-url', here.url, '--email', userEmail]
  expect((await here.run([...login, ...serviceFlags], { stdin: apiKey })).code).toBe(0)
  const settings = readFileSync(join(config, 'config.json'), 'utf8')
  for (const [file, line, content] of files) {
    writeBomb(config, { name: 'config.json', content: settings })
    writeBomb(config, { name: file, content })
    const env = {
      REFCHECK_API_KEY: '',
      REFCHECK_BASE_URL: '',
      REFCHECK_USER_EMAIL: '',
      REFCHECK_PROFILE: 'work',
    }
    const failure = await findFailure(here, line, { env })
    if (failure !== undefined) failures.push(failure)
  }
  writeBomb(config, { name: 'config.json', content: settings })
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
    const failure = await findFailure(here, line, { env: { REFCHECK_STORE: store } })
    if (failure !== undefined) failures.push(failure)
  }
  const cases = files.length + lines.length
  bombsRow.countCases(cases, cases - failures.length)
  expect(failures).toEqual([])
}, 300_000)

test('answers with lists of any length need at most 300 MiB', async () => {
  const here = await world()
  maxima.seconds = 0
  maxima.mebibytes = 0
  const lists: [string, number, (at: number) => string][] = [
    ['packages', 250_000, packageJson],
    ['packages', 30_000, packageJson],
    ['packages', 5_000_000, () => '{}'],
    ['packages', 124_000, () => '{}'],
    ['users', 124_000, () => '{}'],
  ]
  let passedCount = 0
  for (const [name, count, item] of lists) {
    here.intercept(answerWithList(name, count, item))
    const { code, stderr, seconds, mebibytes } = await measureRun(
      here.folder,
      [name, 'list'],
      here.env,
      60_000,
    )
    maxima.seconds = Math.max(maxima.seconds, seconds)
    maxima.mebibytes = Math.max(maxima.mebibytes, mebibytes)
    expect([count, code, stderr.includes('internal error')]).toEqual([count, count === 30_000 ? 0 : 7, false])
    if (mebibytes < 300) passedCount += 1
  }
  answersRow.countCases(lists.length, passedCount)
  answersRow.addNote(
    `lists of up to 5,000,000 items: at most ${maxima.mebibytes.toFixed(0)} MiB and ${maxima.seconds.toFixed(1)} s`,
  )
  expect(maxima.mebibytes).toBeLessThan(300)
})
