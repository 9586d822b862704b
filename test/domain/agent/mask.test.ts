import { expect, test } from 'vitest'

import { processorMs } from '../../harness/processor-time.ts'
import {
  maskDocument,
  maskEmail,
  maskFileFailure,
  maskName,
  maskPhone,
  maskText,
  nameWordsIn,
  namesOfChecks,
} from '../../../src/domain/agent/mask.ts'

test.each([
  ['Priya', 'P.'],
  ['Ann Lee', 'A. L.'],
  ['Jean-Luc', 'J. L.'],
  ['Ó Briain', 'Ó. B.'],
  ['小龍', '…'],
  ['', '…'],
  ['…', '…'],
])('the name %j is shown as %j', (name, shown) => {
  expect(maskName(name)).toBe(shown)
})

test.each([
  [maskEmail, 'priya@example.com', 'p…@example.com'],
  [maskEmail, '"odd@name"@example.com', '"…@example.com'],
  [maskEmail, 'no address', '…'],
  [maskEmail, '@example.com', '…'],
  [maskEmail, 'ana@12 High St', '…'],
  [maskPhone, '+61412345678', '…78'],
  [maskPhone, '+61 412 345 678', '…78'],
  [maskEmail, 'a@b', 'a…@b'],
  [maskPhone, '12', '…'],
  [maskPhone, '123456', '…'],
  [maskPhone, '1234567', '…67'],
])('%o of %j is %j', (mask, text, shown) => {
  expect(mask(text)).toBe(shown)
})

const request = {
  request_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  status: 'ERROR',
  created_at: '2026-11-20T12:00:00Z',
  requester: { email: 'olive@example.com', team: 'Night shift' },
  recipient: {
    first_name: 'Priya',
    last_name: 'Shah-Rao',
    email: 'p.shah@example.com',
    phone: '+61412345678',
    born: 1990,
  },
  error_reason: 'Identity of PRIYA Shah could not be confirmed by +61 412 345 678',
  checks: [
    { type: 'reference', references: [{ referee_name: 'Ann Lee', referee_email: 'ann@example.org' }] },
  ],
  additional_information: [
    { code: 'ncc', fields: { date_of_birth: '1990-04-30', is_volunteer: false, names: ['Priya Rao'] } },
  ],
}

test('masking hides all personal data of a request and leaves ids, statuses and times', () => {
  expect(maskDocument(request, nameWordsIn([request]))).toEqual({
    request_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
    status: 'ERROR',
    created_at: '2026-11-20T12:00:00Z',
    requester: { email: 'o…@example.com', team: '…' },
    recipient: { first_name: 'P.', last_name: 'S. R.', email: 'p…@example.com', phone: '…78', born: '…' },
    error_reason: '… of … could not be … by …',
    checks: [{ type: 'reference', references: [{ referee_name: 'A. L.', referee_email: 'a…@example.org' }] }],
    additional_information: [
      { code: 'ncc', fields: { date_of_birth: '…', is_volunteer: '…', names: ['…'] } },
    ],
  })
})

test('masking shows a check name that a package has, fixed words and full timestamps, and hides other texts of a check', () => {
  const packages = [
    {
      id: 101,
      details: { background_checks: [{ check_name: 'Police check', partner_name: 'Verity Checks' }] },
      check_name: 'Zoraida Canary',
    },
  ]
  const text = 'Check of Zoraida Canary born 1931-07-19, 12 Canary Street'
  const checks = [
    { check_name: 'Police check', partner_name: 'Verity Checks', type: 'background' },
    { check_name: text, partner_name: text, type: text },
    { check_name: 'Zoraida Canary', partner_name: null },
  ]
  const document = {
    created_at: '1931-07-19',
    checks,
    error: { message: `${text}: no report; the check ended ${text}` },
  }
  expect(maskDocument(document, new Set(), { checkNames: namesOfChecks(packages) })).toEqual({
    created_at: '…',
    checks: [
      checks[0],
      { check_name: '…', partner_name: '…', type: '…' },
      { check_name: '…', partner_name: null },
    ],
    error: { message: '…: no report; the check ended …' },
  })
})

test.each([
  ['the report is not ready; the check is IN_PROGRESS', undefined],
  ['the check is COMPLETED, but its report is not available yet', undefined],
  ['its report is no longer available', undefined],
  ['the report is not ready; the check is of 12 Canary Street', 'the report is not ready; the check is …'],
])('masking hides the name of the check in a sentence about its report: %s', (end, shown = end) => {
  expect(maskText(`Check of 12 Canary Street, 1931-07-19: ${end}`, new Set())).toBe(`…: ${shown}`)
})

test('masking leaves the position and the reason of a problem in a file, and hides the cell', () => {
  const problem = {
    row: 3,
    line: 4,
    column: 'email',
    value: 'priya at example',
    problem: '"priya at example" is not an e-mail',
    suggestion: null,
  }
  expect(maskDocument(problem, new Set())).toEqual({
    ...problem,
    value: '…',
    problem: '"…" is not an e-mail',
  })
  expect(maskDocument({ column: 'phone', from: '+61 412 345 678', to: '+61412345678' }, new Set())).toEqual({
    column: 'phone',
    from: '…',
    to: '…',
  })
})

test.each([
  [
    'somebody similar was ordered: package 102 (request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55, 2026-11-20 12:00 +00:00) for Priya van der Berg (priya@example.com) has the same e-mail',
    'somebody similar was ordered: package 102 (request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55, 2026-11-20 12:00 +00:00) for P. v. d. B. (p…@example.com) has the same e-mail',
  ],
  ['Ann Lee (ann@example.com) is similar', 'A. L. (a…@example.com) is similar'],
  [
    'package 102 was already ordered for "ann@example.com": request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
    'package 102 was already ordered for "…": request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  ],
  ['4 rows of 1000 in 1 h, exit 10', '4 rows of 1000 in 1 h, exit 10'],
])('masking hides names and e-mail addresses in a sentence: %s', (text, shown) => {
  expect(maskText(text, new Set())).toBe(shown)
})

test.each([
  // Quoted text may contain quotation marks, and text that was cut may lack the closing one.
  ['the column "say "Ana" Lee" is unknown', 'the column "…" is unknown'],
  ['the columns "a", "Ana", “Lee” are unknown', 'the columns "…" are unknown'],
  ['the columns "a", "Ana Le… (cut: 700 characters)', 'the columns "…"'],
  ['holds "Ana', 'holds "…"'],
  // Parts of a cell that the sentence does not quote.
  ['is the error #ANA!', 'is the error …'],
  ['is of the type ana, which is not known', 'is of the type …'],
  ['is the number 412345 shown as "0412"', 'is the number …'],
  ['has more digits than are shown; round it to 52.5', 'has more digits than are shown; round it to …'],
  ['may be 52 or 52000; write one of them', 'may be …'],
  ['is TRUE shown as "No"', 'is …'],
  ['is shown otherwise by its number format, "Ana"', 'is shown otherwise by its number format, …'],
  ['it is a damaged workbook (row ana after row 1)', 'it is a damaged workbook …'],
  ['its part x is not sound XML (unknown entity &ana;)', 'its part x is not sound XML …'],
  ['has a 0 after the country calling code +61, which', 'has a 0 after the country calling code …'],
])('masking hides the content of a file in a sentence: %s', (text, shown) => {
  expect(maskText(text, new Set())).toBe(shown)
})

test('masking hides the column names of a mapping', () => {
  expect(
    maskDocument({ reading: { map: { Ana: 'first_name' }, ignore: ['Lee'], sheet: null } }, new Set()),
  ).toEqual({
    reading: { map: '…', ignore: '…', sheet: null },
  })
})

test('the error of a file that cannot be read loses its column and sheet names; other errors stay unchanged', () => {
  const error = { code: 'invalid_input', message: 'm', hint: 'add: --ignore Ana', field: 'Ana' }
  const hint = expect.stringContaining('refcheck batch validate FILE') as string
  expect(maskFileFailure({ error }, false)).toEqual({ error: { code: 'invalid_input', message: 'm', hint } })
  expect(maskFileFailure({ error: { ...error, code: 'usage', field: 'email' } }, false)).toEqual({
    error: { code: 'usage', message: 'm', hint, field: 'email' },
  })
  for (const document of [
    { error: { ...error, code: 'throttled' } },
    { rows: 1, error },
    [{ error }],
    null,
    undefined,
  ])
    expect(maskFileFailure(document, true)).toEqual(document)
})

test('masking hides a path that contains a name; base URL and plan code stay unchanged', () => {
  const document = {
    path: '/srv/20261120/report-1234567/Shah-Priya_id.pdf',
    base_url: 'http://192.168.100.200:8080',
    code: 'BCDF-BCDG',
  }
  expect(maskDocument(document, new Set(['priya', 'shah']))).toEqual({
    ...document,
    path: '….pdf',
  })
})

test.each([
  ['/srv/Shah-Priya_Reference-Lee-Ann_0044a0f5.pdf', '…0044a0f5.pdf'],
  ['/srv/Shah Priya.pdf', '….pdf'],
  ['/srv/Lee-Ann/Shah-Priya/0ba4cba1-d919-48ec-b431-87577d1de520.pdf', '…7d1de520.pdf'],
  ['/srv/Bee-Ada_c7f2ef6f.pdf', '…c7f2ef6f.pdf'],
  ['/srv/Abe-Dee_abcdefab.pdf', '….pdf'],
  ['/srv/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55/0ba4cba1-d919-48ec-b431-87577d1de520_0044a0f5.pdf', undefined],
  [
    '/srv/Lee-Ann/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55/0ba4cba1-d919-48ec-b431-87577d1de520.pdf',
    '…7d1de520.pdf',
  ],
  ['/srv/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55/0ba4cba1-d919-48ec-b431-87577d1de520_Fae-Ada-Dee.pdf', '….pdf'],
  ['/srv/people.csv', undefined],
  ['/srv/hires 2026-11-20 12.30.results.csv', undefined],
  ['/srv/2026-11-26 61488017700.csv', '/srv/2026-11-26 ….csv'],
  ['/srv/20261126_0488_017_700/Smith 19-07-1931.csv', '/srv/20261126_…/Smith ….csv'],
  ['/srv/Canaryname 1931-07-19 61488017700.csv', '/srv/Canaryname ….csv'],
  ['/srv/Smith 19 July 1931.results.csv', '/srv/Smith … July ….results.csv'],
  ['/srv/Smith 19jul31.csv', '/srv/Smith …jul….csv'],
  ['/srv/Smith 1.7.31/hires 2026.csv', '/srv/Smith …/hires 2026.csv'],
  ['/srv/(04) 8801 7700/new hires-2.csv', '/srv/(…/new hires-2.csv'],
  ['/srv/team/ann@b.example 1931.csv', '/srv/team/a…@b.example ….csv'],
])(
  'masking hides the names in the path of a report, and names of referees that no document contains: %s',
  (path, shown) => {
    expect(maskDocument({ path }, new Set(), { reportsFolder: '/srv' })).toEqual({ path: shown ?? path })
  },
)

test.each([
  ['the file has no column "email"', 'the file has no column "…"'],
  ['File Example: no report', 'F. E.: no report'],
  ['not read: File, an.nguyen@example.com', 'not read: F., a…@example.com'],
  ['unknown flag --first-name; example-file is no order', 'unknown flag --first-name; e. f. is no order'],
])('lowercase words that refcheck itself writes are not masked as names: %s', (text, shown) => {
  expect(
    maskText(text, nameWordsIn([{ first_name: 'File', last_name: 'Example' }, { referee_name: 'First No' }])),
  ).toBe(shown)
})

test('the command in a hint stays valid if the names of people are words of the hint', () => {
  const recipients = ['File', 'Show', 'Retry', 'An', 'Name', 'Batch'].map((first_name) => ({ first_name }))
  const known = nameWordsIn([...recipients, { last_name: 'Shah' }])
  const hint = 'Show an order with: refcheck batch retry 3f2b8c1e --first-name=NAME FILE shah-an.csv'
  expect(maskDocument({ error: { message: 'Show: no such batch', hint } }, known)).toEqual({
    error: { message: 'S.: no such batch', hint: hint.replace('shah-an', 's. a.') },
  })
})

test.each(['path', 'file', 'folder'])('the value of the key %s is treated as a path', (key) => {
  expect(maskDocument({ [key]: '/srv/report-12' }, new Set())).toEqual({ [key]: '/srv/report-12' })
})

test.each(['code', 'approve_with', 'base_url', 'state'])(
  'the value of the key %s comes from refcheck and is not masked',
  (key) => {
    expect(maskDocument({ [key]: '"a" 1234567' }, new Set())).toEqual({ [key]: '"a" 1234567' })
  },
)

test.each(['recipient', 'requester', 'fields'])(
  'every value below the key %s is masked as personal data',
  (key) => {
    expect(maskDocument({ [key]: { anything: 'x', list: ['y', { z: 1 }] } }, new Set())).toEqual({
      [key]: { anything: '…', list: ['…', { z: '…' }] },
    })
  },
)

test('names are collected from the keys of names, also from lists; single letters are not names', () => {
  const documents = [
    { first_name: ["Ann-Lee O'Shea", 'X'] },
    { last_name: 'Rao' },
    { referee_name: 'Kim Li' },
    { title: 'Police' },
  ]
  expect([...nameWordsIn(documents)].toSorted()).toEqual([
    'ann',
    'ann-lee',
    'kim',
    'lee',
    'li',
    "o'shea",
    'rao',
    'shea',
  ])
})

test('a word that has a name as one of its parts is masked', () => {
  expect(maskText('Rao-Report', new Set(['rao']))).toBe('R. R.')
  expect(maskDocument({ constructor: 'Rao' }, new Set(['rao']))).toEqual({ constructor: 'R.' })
})

test('masking texts of 100,000 characters takes less than two seconds', () => {
  const texts = [
    'a'.repeat(100_000),
    '1 '.repeat(50_000),
    'a@'.repeat(50_000),
    'x ('.repeat(30_000),
    ', '.repeat(50_000),
  ]
  const took = processorMs(() => {
    for (const text of texts) maskText(text, new Set(['priya']))
  })
  expect(took).toBeLessThan(2_000)
})

test.each([
  [
    'additional_information[0].fields.date_of_birth: 1931-07-19 is too long ago',
    'additional_information[0].fields.date_of_birth: … is too long ago',
  ],
  [
    'additional_information[0].fields.address: 12 Canary Street is not an address',
    'additional_information[0].fields.address: … is not an address',
  ],
  ["recipient.first_name: Xaverixx's name is taken", 'recipient.first_name: … name is taken'],
  ['recipient.last_name: Ottobre has accents', 'recipient.last_name: … has …'],
  ['ViktorixNöhrman is known', '… is known'],
  ['recipient.phone: +61 / 48 / 80 / 17 / 70 / 5 is no phone', 'recipient.phone: … is no phone'],
  ['recipient.email: tab at canary.example is no mail', 'recipient.email: … at … is no mail'],
  ['Canary: is no field', '…: is no field'],
  [
    'package 102 was already ordered: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55, on 2026-11-20 12:00 +00:00, last seen RECEIVED',
    'package … was already ordered: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55, on …, last seen RECEIVED',
  ],
  ['date_of_birth: 1934-08-20T00:00:00.000Z is too long ago', '…: … is too long ago'],
  ['1931-07-19 00:00:00 is before', '… is before'],
  ['xaverixx_vogelix: name taken', '…: name taken'],
  ['recipient.phone: row 61488017705 exists', 'recipient.phone: row … exists'],
  ['c@61488017706 and a@Löwenix.Tabithax', '… and …'],
  [
    'additional_information[0].fields.zoraidax.quillon.canary_street: is wrong',
    'additional_information[0].fields.….….…: is wrong',
  ],
  ['person 61488017-8801-4770-9193-108208810000 is known', 'person … is known'],
])(
  'masking leaves only field names, ids and words of refcheck in an error text of the service: %s',
  (text, shown) => {
    const { error } = maskDocument({ error: text }, new Set()) as { error: string }
    expect(error).toBe(shown)
  },
)

test('a status with more than one word is masked, also as the key of a count', () => {
  const text = 'Zoraidax Canaryname born 1931-07-19'
  const document = {
    status: text,
    statuses: { [text]: 1, RECEIVED: 2 },
    checks: { by_type: { [text]: { [text]: 1 } } },
  }
  expect(maskDocument(document, new Set())).toEqual({
    status: '…',
    statuses: { '…': 1, RECEIVED: 2 },
    checks: { by_type: { '…': { '…': 1 } } },
  })
})

test('ids, statuses and times of the service are shown only in the form that the API document defines', () => {
  const id = '0ba4cba1-d919-48ec-b431-87577d1de520'
  const document = {
    status: 'Zoraidax_Canaryname',
    created_at: '1931-07-19T00:00:00Z',
    checks: [
      { id: 'Zoraidax Canaryname', type: 'Canaryname', status: 'COMPLETED' },
      { id, type: 'background', status: 'Zoraidax' },
      { references: [{ referee_id: '61488017700' }, { referee_id: 61_488_017_700 }, { referee_id: '17' }] },
    ],
    error: { status: 400, field: 'zoraidax.canaryname_born_in_1931' },
    request_id: 'zoraidax canaryname born 1931-07-19',
    name: 'Canaryname 1931-07-19 61488017700.csv, read 2026-11-20 12:00 +00:00 61488017700',
  }
  expect(maskDocument(document, new Set())).toEqual({
    status: '…',
    created_at: '…',
    checks: [
      { id: '…', type: '…', status: 'COMPLETED' },
      { id, type: 'background', status: '…' },
      { references: [{ referee_id: '…' }, { referee_id: '…' }, { referee_id: '17' }] },
    ],
    error: { status: 400, field: '…' },
    request_id: '…',
    name: 'Canaryname … ….csv, read 2026-11-20 12:00 +00:00 …00',
  })
})
