import iconv from 'iconv-lite'
import { expect, test } from 'vitest'

import { plainDialect } from '../../src/domain/sheet/cell.ts'
import { UndecidedError } from '../../src/errors/kinds.ts'
import { likelyReadings } from '../../src/sheets/text.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes, textOfCell, readRefusal, readTable } from './table.ts'

const westernNames = [
  'Zoë',
  'José',
  'Müller',
  'François',
  'Åsa Öberg',
  'Ørsted',
  'Núñez',
  'Conceição',
  'O’Neil',
  'Straße',
]

/** Names of one country, and the encoding in which programs of that country save them. */
const namesByEncoding: [encoding: string, names: string[]][] = [
  ['windows-1252', westernNames],
  ['windows-1252', ['Þórður Ágústsson']],
  ['windows-1250', ['Antonín Dvořák', 'Jiří Růžička', 'Božena Němcová']],
  ['windows-1250', ['Michał Wałęsa', 'Łukasz Żółć', 'Ścisła']],
  ['windows-1250', ['Gergő Erdős', 'Szűcs']],
  ['windows-1254', ['Işıl Yıldız', 'Çağlar Şahin', 'Doğan']],
  ['windows-1257', ['Kārlis Bērziņš', 'Jānis Ķirsis', 'Ģirts']],
  ['windows-1257', ['Žydrūnas Šležas', 'Rūta Meilutytė']],
  ['macintosh', ['José', 'Jürgen', 'Nuñez', 'François', 'Zoë']],
  ['cp850', ['José', 'Jürgen', 'François', 'Muñoz']],
  ['windows-1251', ['Иван Петров', 'Ольга Щукина']],
  ['windows-1253', ['Γιώργος Παπαδόπουλος']],
  ['shift_jis', ['鈴木 一郎', '田中 花子', '山田']],
  ['gb18030', ['李明', '王小红', '张伟']],
  ['big5', ['陳大文', '林志明']],
  ['euc-kr', ['김철수', '박영희']],
]

test.each(namesByEncoding)(
  '%s is one of the first two readings that are offered for %j',
  async (encoding, names) => {
    const samples = names.map((name) => iconv.encode(name, encoding).toString('latin1'))
    const readings = await likelyReadings(samples)
    expect(readings.length).toBeLessThanOrEqual(3)
    const expectedReading = readings.find((reading) => reading.samples[0] === names[0])
    expect(readings.slice(0, 2)).toContainEqual(expectedReading)
  },
)

/** The encodings that are offered, in their order, for names that are saved in `actualEncoding`. */
const expectedOffers: [names: string[], actualEncoding: string, encodings: string[]][] = [
  [['José'], 'windows-1252', ['windows-1252', 'windows-1251']],
  [['Müller'], 'windows-1252', ['windows-1252', 'windows-1251']],
  [['Conceição'], 'windows-1252', ['windows-1252', 'windows-1250']],
  [['O’Neil'], 'windows-1252', ['windows-1252', 'shift_jis']],
  [['Ørsted', 'Åsa Öberg'], 'windows-1252', ['windows-1252', 'windows-1250', 'windows-1257']],
  [['Dvořák'], 'windows-1250', ['windows-1250', 'windows-1257']],
  [['Růžička'], 'windows-1250', ['windows-1250', 'windows-1252']],
  [['Łukasz'], 'windows-1250', ['windows-1250', 'cp850']],
  [['Wałęsa'], 'windows-1250', ['windows-1250', 'windows-1251']],
  [['Čapek'], 'windows-1250', ['windows-1252', 'windows-1250']],
  [['Gergő Erdős', 'Szűcs'], 'windows-1250', ['windows-1252', 'windows-1250', 'windows-1257']],
  [['Doğan'], 'windows-1254', ['windows-1252', 'windows-1250', 'windows-1254']],
  [
    ['Işıl Yıldız', 'Çağlar Şahin', 'Doğan'],
    'windows-1254',
    ['windows-1254', 'windows-1252', 'windows-1257'],
  ],
  [['Bērziņš'], 'windows-1257', ['windows-1257', 'windows-1252']],
  [['José'], 'macintosh', ['macintosh', 'windows-1257']],
  [['José'], 'cp850', ['cp850', 'macintosh']],
  [['Dvořák', 'Růžička'], 'cp852', ['cp852', 'windows-1252']],
  [['Иван Петров', 'Ольга Щукина'], 'windows-1251', ['windows-1251', 'windows-1253']],
  [['Иван Петров', 'Ольга Щукина'], 'koi8-r', ['koi8-r', 'windows-1251']],
  [['Γιώργος Παπαδόπουλος'], 'windows-1253', ['windows-1251', 'windows-1253']],
  [['דוד כהן'], 'windows-1255', ['windows-1251', 'windows-1253', 'windows-1255']],
  [['محمد علي'], 'windows-1256', ['windows-1256', 'windows-874', 'shift_jis']],
  [['สมชาย'], 'windows-874', ['windows-1251', 'windows-1256', 'windows-874']],
  [['鈴木'], 'shift_jis', ['shift_jis', 'gb18030']],
  [['李明'], 'gb18030', ['windows-1255', 'gb18030', 'big5']],
  [['陳大文', '林志明'], 'big5', ['big5', 'windows-874']],
  [['김철수', '박영희'], 'euc-kr', ['gb18030', 'euc-kr']],
]

test.each(expectedOffers)('%j in %s is offered as %j', async (names, actualEncoding, expectedEncodings) => {
  const readings = await likelyReadings(
    names.map((name) => iconv.encode(name, actualEncoding).toString('latin1')),
  )
  expect(readings.map(({ encoding }) => encoding)).toEqual(expectedEncodings)
  expect(readings.find(({ encoding }) => encoding === actualEncoding)?.samples).toEqual(names)
})

test('windows-1252 is the first offer for each Western European name, so that Enter selects it', async () => {
  for (const name of westernNames) {
    const [firstReading] = await likelyReadings([iconv.encode(name, 'windows-1252').toString('latin1')])
    expect(firstReading).toMatchObject({ encoding: 'windows-1252', samples: [name] })
  }
})

test.each(namesByEncoding)('with --encoding %s the names are read exactly: %j', async (encoding, names) => {
  const text = `name,place\n${names.map((name) => `${name},1\n`).join('')}`
  expect(await readTable(iconv.encode(text, encoding), 'p.csv', { encoding })).toEqual([
    ['name', 'place'],
    ...names.map((name) => [name, '1']),
  ])
})

test('a column that is sent is refused if it is not UTF-8, and the message offers the likely encodings', async () => {
  const bytes = iconv.encode('name,place\nDvořák,1\n', 'windows-1250')
  const sheet = await openBytes(bytes, 'p.csv')
  const rows = await collect(sheet.rows())
  expect(rows[0]?.cells).toEqual([{ kind: 'bytes', text: 'Dvo\u00F8\u00E1k' }, '1'])
  const error = await sheet.createUndecidedEncodingError('"name" on line 2', ['Dvo\u00F8\u00E1k'])
  expect(error).toBeInstanceOf(UndecidedError)
  expect(error).toMatchObject({
    message: 'p.csv: "name" on line 2 is not UTF-8, so its letters cannot be told for sure',
    hint: 'Save it as "CSV UTF-8", or say what it is, such as --encoding windows-1250. It may be windows-1250 (Dvořák) or windows-1257 (Dvoųįk).',
    flag: 'encoding',
  })
  expect(error.answers[0]).toEqual({ value: 'windows-1250', label: 'Dvořák (windows-1250, Central Europe)' })
})

test('a file is refused when it is opened if its header is not UTF-8', async () => {
  const bytes = iconv.encode('Prénom,Nom\nZoé,Lefèvre\n', 'windows-1252')
  expect(await readRefusal(bytes, 'p.csv')).toBe(
    'p.csv: line 1 is not UTF-8, so its letters cannot be told for sure',
  )
})

test('a UTF-8 file is read as UTF-8, even if another encoding is given', async () => {
  expect(await readTable('name\nDvořák\n', 'p.csv', { encoding: 'windows-1250' })).toEqual([
    ['name'],
    ['Dvořák'],
  ])
  expect(await readTable('\uFEFFname\nDvořák\n', 'p.csv', { encoding: 'cp850' })).toEqual([
    ['name'],
    ['Dvořák'],
  ])
})

test.each([
  ['windows-1252', Buffer.from('a\nx\x81\n', 'latin1')],
  ['shift_jis', Buffer.from('a\nx\xFF\xE9\n', 'latin1')],
])('bytes that are invalid in %s are refused, not replaced', async (encoding, bytes) => {
  expect(await readRefusal(bytes, 'p.csv', { encoding })).toContain(
    `it is not ${encoding.toUpperCase()} throughout`,
  )
})

test.each(['nonsense', 'base64', 'hex', 'utf7', ''])(
  'the unknown encoding %j is refused',
  async (encoding) => {
    expect(await readRefusal('a\n1\n', 'p.csv', { encoding })).toBe(
      `--encoding: "${encoding}" is not a known encoding`,
    )
  },
)

test('UTF-16 without a byte order mark is read if the encoding is given', async () => {
  expect(await readTable(Buffer.from('a,b\nŁ,2\n', 'utf16le'), 'p.csv', { encoding: 'utf-16le' })).toEqual([
    ['a', 'b'],
    ['Ł', '2'],
  ])
})

test('in an ignored column of an unknown encoding, each letter that is not ASCII is written back as U+FFFD', async () => {
  const bytes = iconv.encode('first_name,notes\nJan,Dvořák š\n', 'windows-1250')
  const sheet = await openBytes(bytes, 'people.csv')
  const rows = (await collect(sheet.rows())).map((row) => ({ row, added: ['accepted'] }))
  for (const format of ['csv', 'xlsx', 'json'] as const) {
    const annotatedSheet = { sheet, addedColumns: ['refcheck_state'], rows: yieldAll(rows) }
    const writtenBytes = await collectBytes(annotatedBytes(annotatedSheet, { ...plainDialect, format }))
    const rewritten = await openBytes(writtenBytes, `people.results.${format}`)
    expect((await collect(rewritten.rows())).map(({ cells }) => cells.map(textOfCell))).toEqual([
      ['Jan', 'Dvo\uFFFD\uFFFDk \uFFFD', 'accepted'],
    ])
  }
})

async function* yieldAll<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows
}
