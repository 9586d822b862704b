import { expect, test } from 'vitest'

import { collect, collectBytes, openBytes } from '../../sheets/table.ts'
import { packageSchema } from '../../../src/contract/package-schema.ts'
import { cellValue } from '../../../src/domain/batch/cell-value.ts'
import { readRecipientField } from '../../../src/domain/form/recipient.ts'
import { templateBody, templateColumns, templateFormat } from '../../../src/domain/form/template.ts'
import { validateBody } from '../../../src/domain/form/validate.ts'
import { textOf } from '../../../src/domain/sheet/cell.ts'
import { templateBytes } from '../../../src/sheets/rewrite.ts'

const stringField = { type: 'string', required: true }

/** Returns a schema of one check, parsed as an answer of the service. */
function schemaOf(
  fields: Record<string, { type: string; required: boolean; description: string }>,
  code = 'k',
) {
  return packageSchema.parse(
    JSON.parse(
      JSON.stringify({
        id: 7,
        fields: {
          recipient: {
            first_name: stringField,
            last_name: stringField,
            email: stringField,
            phone: stringField,
          },
          additional_information: [{ display_name: 'Check', code, fields: {} }],
        },
      }).replace('"fields":{}', () => `"fields":${fieldsJson(fields)}`),
    ),
  )
}

/** Formats the JSON by hand, because an object literal would lose a field named __proto__. */
function fieldsJson(fields: Record<string, unknown>): string {
  return `{${Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',')}}`
}

const everyType = schemaOf({
  text: { type: 'string', required: true, description: 'Anything.' },
  born: { type: 'string', required: true, description: 'An ISO date.' },
  count: { type: 'integer', required: true, description: '' },
  sum: { type: 'number', required: false, description: '' },
  flag: { type: 'boolean', required: true, description: '' },
  list: { type: 'array', required: true, description: '' },
  map: { type: 'object', required: false, description: '' },
})

test('the note of a column states the type of its field and whether it is required', () => {
  const notes = Object.fromEntries(templateColumns(everyType).map(({ header, note }) => [header, note]))
  expect(notes).toEqual({
    first_name: 'Recipient: First name\nRequired, text.',
    last_name: 'Recipient: Last name\nRequired, text.',
    email: 'Recipient: Email\nRequired, text.\nWhere the service writes to the person.',
    phone: 'Recipient: Phone\nRequired, text.\nWith + and the country code, such as +61 400 000 000.',
    'k.text': 'Check: Text\nRequired, text.\nAnything.',
    'k.born': 'Check: Born\nRequired, a date as YYYY-MM-DD.\nAn ISO date.',
    'k.count': 'Check: Count\nRequired, a whole number.',
    'k.sum': 'Check: Sum\nOptional, a number.',
    'k.flag': 'Check: Flag\nRequired, yes or no.',
    'k.list':
      'Check: List\nRequired, a list: texts with ; between them, such as first; second; none if there are none.',
    'k.map': 'Check: Map\nOptional, JSON, such as {"name": "value"}.',
  })
})

test('columns of numbers are not text columns, and a yes or no is chosen from a list', () => {
  const columns = templateColumns(everyType)
  expect(columns.filter(({ hasTextFormat }) => hasTextFormat !== true).map(({ header }) => header)).toEqual([
    'k.count',
    'k.sum',
  ])
  expect(columns.find(({ header }) => header === 'k.flag')?.choices).toEqual(['yes', 'no'])
})

test('every cell of the example is valid', () => {
  for (const { header, example } of templateColumns(everyType)) {
    const definition = everyType.fields.additional_information[0]?.fields[header.replace('k.', '')]
    const problem =
      definition === undefined
        ? readRecipientField(header as 'email', textOf(example)).problem
        : cellValue(definition, example).problem
    expect([header, problem]).toEqual([header, undefined])
  }
})

test('an object has a column for each part that its description lists', () => {
  const address = {
    type: 'object',
    required: true,
    description: 'Current address: street, suburb and post_code.',
  }
  const columns = templateColumns(schemaOf({ address })).map(({ header }) => header)
  expect(columns.slice(4)).toEqual(['k.address.street', 'k.address.suburb', 'k.address.post_code'])
  const vague = { type: 'object', required: true, description: 'Say where: e.g. the place, and so on.' }
  expect(templateColumns(schemaOf({ vague })).at(-1)?.header).toBe('k.vague')
})

test('every placeholder of a template body is invalid', () => {
  const { problems = [] } = validateBody(templateBody(everyType), everyType)
  expect(problems.map(({ column }) => column)).toEqual(templateColumns(everyType).map(({ header }) => header))
})

const hostile = [
  '__proto__',
  'constructor',
  '=cmd|"/c calc"!A1',
  '+1+1',
  '@SUM(1)',
  "'=1",
  'a,b;c\td|e',
  'two\r\nlines',
  'bell\u0007 and \u001B[31m',
  '\u202Eright to left',
  '_x0041_',
  '<b>&"',
  'x'.repeat(300),
]
const hostileSchema = schemaOf(
  Object.fromEntries(
    hostile.map((name) => [name, { type: 'string', required: true, description: `=${name}\u0000` }]),
  ),
  '=k',
)

test.each(['csv', 'xlsx'] as const)(
  'hostile field names are safe in %s, and are read back unchanged',
  async (format) => {
    const columns = templateColumns(hostileSchema)
    const bytes = await collectBytes(templateBytes(columns, format))
    const sheet = await openBytes(bytes, `t.${format}`, format === 'xlsx' ? 'Requests' : undefined)
    expect(sheet.columns).toEqual(columns.map(({ header }) => header))
    expect(sheet.columns).toContain('=k.__proto__')
    expect(await collect(sheet.rows())).toEqual([])
    expect(format === 'csv' ? bytes.toString() : '').not.toMatch(/(?:^|[,"])=/)
  },
)

test('hostile field names are in a template body unchanged', () => {
  const text = JSON.stringify(templateBody(hostileSchema))
  expect(text).toContain('"__proto__":""')
  expect(Object.getPrototypeOf({})).toBe(Object.prototype)
})

test('two fields with one column, a NUL in a CSV, and a name too long for a cell are refused', () => {
  const text = { type: 'string', required: true, description: '' }
  expect(() => templateColumns(schemaOf({ a: text, 'a ': text }))).toThrow(
    'package 7 has two fields for the column "k.a"',
  )
  expect(() => templateBytes(templateColumns(schemaOf({ 'a\0': text })), 'csv')).toThrow('NUL')
  expect(() => templateBytes(templateColumns(schemaOf({ ['a'.repeat(40_000)]: text })), 'xlsx')).toThrow(
    '32767',
  )
})

test.each([
  [undefined, undefined, 'csv'],
  [undefined, 'a.XLSX', 'xlsx'],
  [undefined, 'a.txt', 'csv'],
  ['json', 'a.txt', 'json'],
  ['xlsx', '-', 'xlsx'],
] as const)('--format %s --output %s is %s', (format, output, expected) => {
  expect(templateFormat(format, output)).toBe(expected)
})

test('a file extension that is not a template format, or contradicts --format, is refused', () => {
  expect(() => templateFormat(undefined, 'people.ods')).toThrow('a template cannot be written as .ods')
  expect(() => templateFormat('csv', 'people.xlsx')).toThrow('--format csv contradicts --output people.xlsx')
  expect(templateFormat('csv', 'people.ods')).toBe('csv')
})
