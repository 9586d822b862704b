import { expect, test } from 'vitest'

import { connectAgent } from '../harness/agent.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { sampleOf } from '../harness/share.ts'
import { session } from '../harness/session.ts'
import { zipParts } from '../sheets/workbook.ts'
import { createBook, excelStyles } from '../vectors/sheets/parts.ts'

recordForFaultTable('agents', { mustNotHappen: 'tests in which an agent received a cell' })

/** Texts of a cell, a header or the name of a sheet. Each has a canary outside of its own quotation marks. */
const texts = [
  'canary',
  'Canary Person',
  'canary "canary" canary',
  "canary's 'canary' canary",
  '“canary”, canary',
  'canary.person@canary.example',
  'x@canary street 7',
  '1931-07-19',
  '+61 488 017 700',
  '88017',
  '=canary|1',
  ': canary, for canary and canary (x@example.com)',
  'canary\ncanary',
  '<canary attr="canary"/> &canary;',
  `canary ${'canary '.repeat(60)}`,
  'canary\uF8FF\uE000\uF8FF',
  'first_name canary',
  'phone numbre canary',
]
const canary = /canary|(?<![\da-f])(?:1931|488.?017|88017)(?![\da-f])/i

const columns = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'package_id',
  'reference.position_title',
  'ncc_acic.date_of_birth',
  'ncc_acic.is_volunteer',
  'ncc_acic.previous_names',
  'ncc_acic.residential_address',
  'ncc_acic.residential_address.street',
  'ncc_acic.residential_address.canary',
  'icrc.years_of_history',
  'icrc.annual_income',
]
const validCells: Record<string, string> = {
  first_name: 'Ana',
  last_name: 'Lee',
  email: 'ana@example.com',
  phone: '+61400000001',
  package_id: '101',
  'reference.position_title': 'Nurse',
  'ncc_acic.date_of_birth': '1990-04-30',
  'ncc_acic.is_volunteer': 'no',
  'ncc_acic.previous_names': 'A; B',
  'ncc_acic.residential_address': '{"street":"1 High St","postcode":"3000"}',
  'icrc.years_of_history': '5',
  'icrc.annual_income': '85000.5',
}
const fieldNames = Object.keys(validCells)
const quoteCell = (cell: string): string => `"${cell.replaceAll('"', '""')}"`
const toCsv = (rows: readonly (readonly string[])[], separator = ','): string =>
  rows.map((row) => `${row.map(quoteCell).join(separator)}\n`).join('')
const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const rowXml = (row: readonly string[], at: number, attributes = ''): string =>
  `<row r="${at}"${attributes}>${row.map((cell, column) => `<c r="${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[column]}${at}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`).join('')}</row>`
const sheetXml = (rows: readonly (readonly string[])[], attributes = '', xmlAfter = ''): string =>
  `<sheetData>${rows.map((row, at) => rowXml(row, at + 1, at === 0 ? '' : attributes)).join('')}</sheetData>${xmlAfter}`
const odsXml = (rows: string): string =>
  `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>${rows}</office:spreadsheet></office:body></office:document-content>`
const odsRow = (row: readonly string[], attributes = ''): string =>
  `<table:table-row${attributes}>${row.map((cell) => `<table:table-cell office:value-type="string"><text:p>${escapeXml(cell)}</text:p></table:table-cell>`).join('')}</table:table-row>`
const odsTable = (name: string, rows: readonly (readonly string[])[], attributes = ''): string =>
  `<table:table table:name="${escapeXml(name)}">${rows.map((row, at) => odsRow(row, at === 0 ? '' : attributes)).join('')}</table:table>`
const odsFile = (content: string): Promise<Buffer> =>
  zipParts({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'META-INF/manifest.xml':
      '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
    'content.xml': content,
  })

type Files = Record<string, string | Uint8Array>

async function createFiles(): Promise<Files> {
  const createFileForEachText = (
    create: (text: string, at: number) => [string, string | Uint8Array],
  ): Files => Object.fromEntries(texts.map(create))
  const rowPerText = texts.map((text) => fieldNames.map(() => text))
  const createRows = (text: string): string[][] =>
    fieldNames.map((column) => fieldNames.map((name) => (name === column ? text : (validCells[name] ?? ''))))
  const tableWith = (text: string): string[][] => [fieldNames, ...createRows(text)]
  const toRecord = (row: readonly string[]): Record<string, string> =>
    Object.fromEntries(fieldNames.map((name, at) => [name, row[at] ?? '']))
  return {
    'all.csv': toCsv(rowPerText),
    'title.csv': toCsv([['canary'], ['', 'canary'], fieldNames, ...rowPerText]),
    'pipe.csv': toCsv(rowPerText, '|'),
    'tab.csv': toCsv(rowPerText, '\t'),
    ...createFileForEachText((text, at) => [
      `header-${at}.csv`,
      toCsv([
        fieldNames.map((name, i) => (i === at % fieldNames.length ? text : name)),
        fieldNames.map(() => text),
      ]),
    ]),
    ...createFileForEachText((text, at) => [
      `more-${at}.csv`,
      toCsv([
        [...fieldNames, text, 'canary b', 'Given Name'],
        [...fieldNames, text, text, text],
      ]),
    ]),
    ...createFileForEachText((text, at) => [
      `twice-${at}.csv`,
      toCsv([
        [...fieldNames, text, text],
        [...fieldNames, text, text],
      ]),
    ]),
    ...createFileForEachText((text, at) => [`cells-${at}.csv`, toCsv(tableWith(text))]),
    ...createFileForEachText((text, at) => [
      `wide-${at}.csv`,
      toCsv([fieldNames, [...fieldNames.map((name) => validCells[name] ?? ''), text]]),
    ]),
    ...createFileForEachText((text, at) => [
      `ragged-${at}.csv`,
      `${toCsv([fieldNames])}${quoteCell(text)},${quoteCell(text)}canary,"canary\n`,
    ]),
    'columns.csv': toCsv([columns, columns.map(() => 'canary')]),
    'latin.csv': Buffer.from(toCsv([fieldNames, fieldNames.map(() => 'Canary Zoë Müller')]), 'latin1'),
    'latin-header.csv': Buffer.from(
      toCsv([
        ['Canary Zoë', 'first_name'],
        ['canary', 'canary'],
      ]),
      'latin1',
    ),
    'utf16.csv': Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from(toCsv(tableWith('canary')), 'utf16le'),
      Buffer.from([0]),
    ]),
    'nul.csv': `${toCsv([fieldNames])}canary\0canary\n`,
    'array.json': JSON.stringify(createRows('canary').map(toRecord)),
    'names.json': JSON.stringify([{ ...toRecord(fieldNames), canary: 'canary', 'canary "x" canary': 1 }]),
    'deep.json': JSON.stringify([
      {
        recipient: { canary: 'canary', first_name: ['canary'] },
        additional_information: [{ code: 'canary', fields: { canary: 'canary' } }],
        package_id: 'canary',
      },
    ]),
    'information.json': JSON.stringify([
      { recipient: { first_name: 'A' }, additional_information: 'canary' },
    ]),
    'twice.json': '[{"canary":1,"canary":2}]',
    'dotted.json': '[{"recipient":{"email":"canary"},"recipient.email":"canary"}]',
    'text.json': '"canary"',
    'texts.json': '["canary"]',
    'broken.json': '[{"first_name": canary}]',
    'broken-text.json': '[{"first_name": "canary\ncanary"}]',
    'broken-escape.json': '[{"first_name": "\\canary"}]',
    'broken-number.json': '[{"first_name": 01931canary}]',
    'open.json': '[{"first_name": "canary',
    'after.json': '[{"first_name": "canary"}] canary',
    'lines.jsonl': '{"first_name": "canary"}\ncanary\n',
    'sheets.xlsx': await createBook({
      styles: excelStyles,
      sheets: ['canary', 'Canary "Person"', "canary's"].map((name) => ({
        name: escapeXml(name),
        content: sheetXml(rowPerText),
      })),
    }),
    'hidden.xlsx': await createBook({
      styles: excelStyles,
      sheets: [{ name: 'canary', content: sheetXml(tableWith('canary'), ' hidden="1"') }],
    }),
    'hidden-column.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'canary',
          content: `<cols><col min="1" max="9" hidden="1"/></cols>${sheetXml([['canary', ...fieldNames], ...createRows('canary')])}`,
        },
      ],
    }),
    'hidden-sheet.xlsx': await createBook({
      styles: excelStyles,
      sheets: [{ name: 'canary', state: 'hidden', content: sheetXml(rowPerText) }],
    }),
    'merged.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'canary',
          content: sheetXml(tableWith('canary'), '', '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'),
        },
      ],
    }),
    'cells.xlsx': await createBook({
      styles: excelStyles,
      sheets: [{ name: 'canary', content: sheetXml(tableWith('canary')) }],
    }),
    'title.xlsx': await createBook({
      styles: excelStyles,
      sheets: [{ name: 'canary', content: sheetXml([['canary'], ...rowPerText]) }],
    }),
    'unnamed.xlsx': await createBook({
      styles: excelStyles,
      sheets: [{ name: 'canary', content: sheetXml([fieldNames, [...fieldNames, 'canary']]) }],
    }),
    'errors.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'canary',
          content: `<sheetData>${rowXml(['first_name', 'last_name', 'email', 'phone'], 1)}<row r="2"><c r="A2" t="e"><f>canary()</f><v>#canary!</v></c><c r="B2" t="b"><v>canary</v></c><c r="C2"><v>canary</v></c><c r="D2" t="s"><v>canary</v></c></row></sheetData>`,
        },
      ],
    }),
    'errors-header.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'canary',
          content: `<sheetData><row r="1"><c r="A1" t="e"><v>#canary!</v></c></row></sheetData>`,
        },
      ],
    }),
    'xml.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'a',
          content:
            '<sheetData><row r="1"><c t="inlineStr"><is><t>canary &canary; </canary></t></is></c></row></sheetData>',
        },
      ],
    }),
    'part.xlsx': await createBook({
      styles: excelStyles,
      sheets: [
        {
          name: 'a',
          content:
            '<sheetData><row r="canary"><c r="canary" t="canary" s="canary"><v>1</v></c></row></sheetData>',
        },
      ],
    }),
    'all.ods': await odsFile(odsXml(odsTable('canary', rowPerText) + odsTable('Canary "x"', rowPerText))),
    'cells.ods': await odsFile(odsXml(odsTable('canary', tableWith('canary')))),
    'hidden.ods': await odsFile(
      odsXml(odsTable('canary', tableWith('canary'), ' table:visibility="collapse"')),
    ),
    'broken.ods': await odsFile(odsXml('<table:table table:name="canary"><canary:x>')),
    'dates.ods': await odsFile(
      odsXml(
        `<table:table table:name="canary">${odsRow(fieldNames)}<table:table-row><table:table-cell office:value-type="date" office:date-value="canary"/><table:table-cell office:value-type="float" office:value="canary"/><table:table-cell office:value-type="canary"><text:p>canary</text:p></table:table-cell></table:table-row></table:table>`,
      ),
    ),
  }
}

const readings: Record<string, unknown>[] = [
  { package_id: 101 },
  {},
  { package_id: 102 },
  ...Array.from({ length: texts.length + 2 }, (_, at) => ({ package_id: 101, header_row: at + 1 })),
  { package_id: 101, encoding: 'utf-16le' },
  { package_id: 101, encoding: 'shift_jis' },
  { package_id: 101, encoding: 'windows-1252' },
  { package_id: 101, encoding: 'no such' },
  { package_id: 101, sheet: 'no such' },
  { package_id: 101, hidden: 'include' },
  { package_id: 101, hidden: 'skip' },
  { package_id: 101, default_country: 'AU' },
  { package_id: 101, default_country: 'ZZ' },
  { package_id: 101, map: { 'no such': 'first_name' } },
  { package_id: 101, map: { first_name: 'no such' } },
  { package_id: 101, map: { first_name: 'last_name' } },
  { package_id: 101, ignore: ['no such'] },
  { package_id: 101, ignore: ['first_name', 'email'] },
]

test('no cell, header or sheet name of a file reaches an agent, however the file is read', async () => {
  const here = await session({ quota: [{ calls: 1_000_000, seconds: 60 }] })
  const env = { REFCHECK_QUOTA: '1000000/60' }
  const contents = await createFiles()
  for (const [name, content] of Object.entries(contents)) here.write(name, content)
  const agent = await connectAgent(here, ['--files', '.'], { clock: here.clock, env })
  const all = Object.keys(contents).flatMap((file) =>
    readings.map((readingOptions) => ({ file, readingOptions })),
  )
  const leaks: string[] = []
  for (const [at, { file, readingOptions }] of sampleOf(all, 150).entries()) {
    const input = { file, ...readingOptions }
    const tool = at % 2 === 0 ? 'validate_file' : 'plan_file'
    // Removes the marks around the data, because they have random digits.
    const text = JSON.stringify((await agent.call(tool, input)).whole).replaceAll(/<\/?data \d+>/g, '')
    if (canary.test(text)) leaks.push(`${tool} ${JSON.stringify(input)}: ${text}`)
  }
  expect(leaks).toEqual([])
}, 600_000)

test('an agent cannot find the value of a cell by trying values', async () => {
  const here = await session()
  const person = ['Ana', 'Lee', 'ana@example.com', '+61400000001']
  here.write('people.csv', toCsv([['first_name', 'last_name', 'email', 'phone'], person]))
  const agent = await connectAgent(here, ['--files', '.'], { clock: here.clock })
  for (const tool of ['validate_file', 'plan_file']) {
    const answer = async (readingOptions: object) =>
      (await agent.call(tool, { file: 'people.csv', package_id: 102, header_row: 2, ...readingOptions })).data
    const refusal = await answer({ map: { Lea: 'first_name' } })
    expect(refusal).toMatchObject({
      error: { message: expect.stringContaining('map and ignore do not fit') },
    })
    for (const readingOptions of [
      { map: { Lee: 'first_name' } },
      { map: { Lee: 'no such' } },
      { map: { Lea: 'no such' } },
      { ignore: ['Lee'] },
      { ignore: ['Lea'] },
      { ignore: person.slice(1) },
      { ignore: person },
    ])
      expect({ readingOptions, data: await answer(readingOptions) }).toEqual({
        readingOptions,
        data: refusal,
      })
  }
  const planned = await agent.call('plan_file', { file: 'people.csv', package_id: 102 })
  expect(planned.data).toMatchObject({ orders: 1, review: { sha256: '…' } })
}, 60_000)

test('no cell reaches an agent from ordered, duplicate, held and refused rows', async () => {
  const here = await session()
  const names = [
    'Canary',
    'Canary, Person',
    'Canary for Canary and Canary',
    'Canary: Canary',
    'Canary "Canary" (Canary)',
  ]
  const header = ['first_name', 'last_name', 'email', 'phone']
  const person = (name: string, at: number, email = `canary${at}@example.com`): string[] => [
    name,
    `${name} Canary`,
    email,
    `+6148801${String(at).padStart(4, '0')}`,
  ]
  const people = names.map((name, at) => person(name, at))
  // Other people who have the same e-mails.
  const others = names.map((name, at) => person(`Other ${name}`, at + 40, `canary${at}@example.com`))
  here.write('people.csv', toCsv([header, ...people, ...people, ...others]))
  here.write('again.csv', toCsv([header, ...people.map((row) => [...row].reverse()), ...people, ...others]))
  await here.type('batch run people.csv --package 102 --yes')
  await here.type('batch run again.csv --package 102 --yes --on-invalid skip')
  expect(here.listOrderedEmails()).toHaveLength(names.length)
  const agent = await connectAgent(here, ['--files', '.'], { clock: here.clock })
  const batches = (await agent.call('list_batches')).data as { batch_id: string }[]
  expect(batches).toHaveLength(2)
  for (const { batch_id } of batches) {
    await agent.call('get_batch', { batch_id })
    await agent.call('list_batch_rows', { batch_id })
    await agent.client.readResource({ uri: `refcheck://batches/${batch_id}` })
  }
  for (const file of ['people.csv', 'again.csv'])
    for (const tool of ['validate_file', 'plan_file']) await agent.call(tool, { file, package_id: 102 })
  await agent.call('list_requests')
  await agent.call('list_events')
  const ids = here.sandbox.requests().map(({ request_id }) => request_id)
  await agent.call('get_requests', { request_ids: ids.slice(0, 20) })
  for (const [first_name = '', last_name = '', email = '', phone = ''] of [...people, ...others]) {
    const body = { package_id: 102, recipient: { first_name, last_name, email, phone } }
    await agent.call('validate_order', { body })
    await agent.call('plan_order', { body })
    await agent.call('plan_people', { package_id: 102, people: [{ recipient: body.recipient }] })
  }
  const leaks = agent.received().match(/.{0,200}(?:canary|88010).{0,60}/gi) ?? []
  expect(leaks).toEqual([])
})
