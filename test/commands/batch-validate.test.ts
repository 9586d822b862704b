import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { type World, world } from '../harness/world.ts'

interface Check {
  rows: number
  valid: number
  invalid: number
  problems: { row: number; column: string; value: string; problem: string; suggestion: string | null }[]
  duplicates: [number, number][]
  error?: { code: string; message: string; hint: string }
}

const simple = 'first_name,last_name,email,phone'

/** Checks a text as a file; its JSON, and how it ended. */
async function check(
  { run, folder }: World,
  text: string | Uint8Array,
  argv: readonly string[] = [],
  name = 'people.csv',
): Promise<{ code: number; found: Check; stderr: string }> {
  writeFileSync(join(folder, name), text)
  const packages = argv.includes('--package') ? [] : ['--package', '102']
  const outcome = await run(['batch', 'validate', name, ...packages, '--json', ...argv])
  return { code: outcome.code, found: outcome.json() as Check, stderr: outcome.stderr }
}

const posts = ({ sandbox }: World): number =>
  sandbox.log.entries().filter((entry) => entry.kind === 'call' && entry.method === 'POST').length

describe('a file', () => {
  test('that is sound: exit 0, exactly the keys of the contract, and nothing is sent', async () => {
    const place = await world()
    const { code, found } = await check(place, `${simple}\nAna,Silva,ana@example.com,+61400000001\n`)
    expect(code).toBe(0)
    expect(found).toEqual({ rows: 1, valid: 1, invalid: 0, problems: [], duplicates: [] })
    expect(posts(place)).toBe(0)
  })

  test('a bad row: exit 2, with row, column, value and what was expected', async () => {
    const place = await world()
    const text = `${simple}\nAna,Silva,ana@example.com,+61400000001\nBo,,bo@example,0400 000 002\n`
    const { code, found } = await check(place, text)
    expect(code).toBe(2)
    expect(found).toMatchObject({ rows: 2, valid: 1, invalid: 1, error: { code: 'invalid_input' } })
    expect(found.problems.map(({ row, column, value }) => [row, column, value])).toEqual([
      [2, 'last_name', ''],
      [2, 'email', 'bo@example'],
      [2, 'phone', '0400 000 002'],
    ])
  })

  test('from stdin, as JSON Lines and as JSON', async () => {
    const { run } = await world()
    const person = { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' }
    for (const stdin of [`${JSON.stringify(person)}\n`, JSON.stringify([{ recipient: person }])]) {
      const outcome = await run(['batch', 'validate', '-', '--package', '102', '--json'], { stdin })
      expect([outcome.code, outcome.json()]).toMatchObject([0, { rows: 1, valid: 1 }])
    }
  })

  test('with a header and nothing else, with an open quote, ragged, or that is not there', async () => {
    const place = await world()
    const cases: [text: string, words: RegExp][] = [
      [`${simple}\n`, /people.csv: it has a header and no rows/],
      [`${simple}\n"Ana,Silva,ana@example.com,+61400000001\n`, /people.csv: .*quote/],
      [
        `${simple}\nAna,Silva,ana@example.com,+61400000001,extra\n`,
        /line 2 has 5 cells, and the header has 4/,
      ],
    ]
    for (const [text, words] of cases) {
      const { code, found } = await check(place, text)
      expect([code, found.error?.message]).toEqual([2, expect.stringMatching(words) as string])
    }
    expect((await place.run(['batch', 'validate', 'nowhere.csv', '--package', '102'])).code).toBe(2)
  })

  test('in UTF-16, with semicolons, or in Windows-1252 is read as it was meant', async () => {
    const place = await world()
    const text = `${simple}\nJosé,Muñoz,jose@example.com,+61400000001\n`
    const encodings = [
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      Buffer.from(text.replaceAll(',', ';'), 'latin1'),
      Buffer.from(`\uFEFF${text}`),
    ]
    const told: string[] = []
    for (const bytes of encodings) {
      const { found, stderr } = await check(place, bytes)
      expect(found).toMatchObject({ valid: 1 })
      told.push(stderr)
    }
    expect(told.map((stderr) => stderr.includes('is read as Windows-1252'))).toEqual([false, true, false])
  })
})

describe('columns', () => {
  const other = 'Given name,last_name,email,phone,Notes'
  const row = 'Ana,Silva,ana@example.com,+61400000001,vip'

  test('one that is not known is refused, with the flags that would do', async () => {
    const { code, found } = await check(await world(), `${other}\n${row}\n`)
    expect([code, found.error]).toEqual([
      2,
      expect.objectContaining({
        message: 'people.csv: the columns "Given name", "Notes" are not known',
        hint: "If that is what is meant, add: --map 'Given name=first_name' --ignore Notes",
      }),
    ])
  })

  test('mapped, ignored, kept under a name and used again', async () => {
    const place = await world()
    const flags = ['--map', 'Given name=first_name', '--ignore', 'Notes']
    const kept = await check(place, `${other}\n${row}\n`, [...flags, '--save-mapping', 'workday'])
    expect([kept.code, kept.stderr]).toEqual([
      0,
      'Kept how the columns were read: use it with --mapping workday\n',
    ])
    expect((await check(place, `${other}\n${row}\n`, ['--mapping', 'workday'])).code).toBe(0)
    const unknown = await check(place, `${other}\n${row}\n`, ['--mapping', 'nobody'])
    expect([unknown.code, unknown.found.error?.message]).toEqual([
      2,
      '--mapping: there is no mapping "nobody"',
    ])
  })

  test('a suggestion is taken only after a yes', async () => {
    const { run, folder } = await world()
    writeFileSync(
      join(folder, 'people.csv'),
      'Given name,last_name,email,phone\nAna,Silva,ana@example.com,+61400000001\n',
    )
    const question = /Does the column "Given name" say first_name\?/
    const argv = ['batch', 'validate', 'people.csv', '--package', '102']
    expect(
      (await run(argv, { prompter: new ScriptedPrompter([{ ask: question, confirm: true }]) })).code,
    ).toBe(0)
    expect(
      (await run(argv, { prompter: new ScriptedPrompter([{ ask: question, confirm: false }]) })).code,
    ).toBe(2)
  })

  test('twice the same, missing, or a flag that names none', async () => {
    const place = await world()
    const cases: [header: string, argv: string[], words: RegExp][] = [
      [`${simple},recipient.email`, [], /the columns "email" and "recipient.email" both say email/],
      ['first_name,last_name,email', [], /the column phone is missing/],
      [simple, ['--ignore', 'Notes'], /--ignore: the file has no column "Notes"/],
      [simple, ['--map', 'Vorname=first_name'], /--map: the file has no column "Vorname"/],
      [simple, ['--map', 'phone=telephone'], /--map: "telephone" is no column of a batch file/],
    ]
    for (const [header, argv, words] of cases) {
      const { code, found } = await check(
        place,
        `${header}\na,b,c@example.com,+61400000001,d@example.com\n`,
        argv,
      )
      expect([code, found.error?.message]).toEqual([2, expect.stringMatching(words) as string])
    }
  })

  test('package_id where rows differ', async () => {
    const place = await world()
    const text = `${simple},package_id\nAna,Silva,ana@example.com,+61400000001,102\nBo,Li,bo@example.com,+61400000002,999\n`
    writeFileSync(join(place.folder, 'people.csv'), text)
    const outcome = await place.run(['batch', 'validate', 'people.csv', '--json'])
    expect([outcome.code, outcome.json()]).toMatchObject([
      2,
      { valid: 1, problems: [{ row: 2, column: 'package_id', value: '999' }] },
    ])
  })
})

describe('values by the schema', () => {
  const header = `${simple},reference.position_title,ncc_acic.date_of_birth,ncc_acic.is_volunteer,ncc_acic.previous_names,ncc_acic.residential_address.street,icrc.years_of_history,icrc.annual_income`
  const person = 'Ana,Silva,ana@example.com,+61400000001,Nurse'

  test('booleans, dates, lists, dotted objects and whole numbers', async () => {
    const place = await world()
    const rows = ['yes', 'no', 'true', 'FALSE', '1', '0'].map(
      (word, at) =>
        `Ana,Silva,ana${at}@example.com,+6140000000${at},Nurse,1990-04-30,${word},"[""Ana Li""]",1 High St,5,85000.5`,
    )
    const { code, found } = await check(place, `${header}\n${rows.join('\n')}\n`, ['--package', '101'])
    expect([code, found.problems]).toEqual([0, []])
  })

  test.each([
    ['ncc_acic.date_of_birth', '30/04/1990', '1990-04-30'],
    ['ncc_acic.date_of_birth', '2026-02-30', null],
    ['ncc_acic.is_volunteer', 'perhaps', null],
    ['ncc_acic.previous_names', '{"a":1}', null],
    ['icrc.years_of_history', '1e3', null],
    ['icrc.years_of_history', '5.5', null],
  ])('%s: %s is refused', async (column, value, suggestion) => {
    const place = await world()
    const good: Record<string, string> = {
      'ncc_acic.date_of_birth': '1990-04-30',
      'ncc_acic.is_volunteer': 'no',
      'ncc_acic.previous_names': '[]',
      'ncc_acic.residential_address.street': '1 High St',
      'icrc.years_of_history': '5',
      'icrc.annual_income': '85000.5',
    }
    const cells = Object.entries({ ...good, [column]: value }).map(
      ([, cell]) => `"${cell.replaceAll('"', '""')}"`,
    )
    const { code, found } = await check(place, `${header}\n${person},${cells.join(',')}\n`, [
      '--package',
      '101',
    ])
    expect(code).toBe(2)
    expect(found.problems).toMatchObject([{ row: 1, column, value, suggestion }])
  })

  test('digits that a spreadsheet lost are refused, with or without a country', async () => {
    const place = await world()
    for (const argv of [[], ['--default-country', 'AU']]) {
      const { code, found } = await check(place, `${simple}\nAna,Silva,ana@example.com,6.14E+10\n`, argv)
      expect([code, found.problems[0]?.value]).toEqual([2, '6.14E+10'])
    }
  })

  test('national numbers are read with --default-country alone, and shown before and after', async () => {
    const place = await world()
    const text = `${simple}\nAna,Silva,ana@example.com,0400 000 001\n`
    expect((await check(place, text)).code).toBe(2)
    const told = await place.run([
      'batch',
      'validate',
      'people.csv',
      '--package',
      '102',
      '--default-country',
      'au',
    ])
    expect(told.code).toBe(0)
    expect(told.stdout).toContain('row 1, phone: "0400 000 001" is sent as "+61400000001"')
    expect((await check(place, text, ['--default-country', 'Oz'])).code).toBe(2)
  })

  test('names keep their Unicode and lose the spaces around them; a CR or LF in an e-mail is refused', async () => {
    const place = await world()
    const { found } = await check(place, `${simple}\n  Zoë  ,Ó Briain,zoe@example.com,+61400000001\n`)
    expect(found.valid).toBe(1)
    const broken = await check(
      place,
      `${simple}\nAna,Silva,"ana@example.com\r\nBcc: x@example.com",+61400000001\n`,
    )
    expect(broken.found.problems).toMatchObject([{ column: 'email' }])
  })
})

test('the same order twice, written otherwise, is told with both rows and is no fault of the file', async () => {
  const rows = [
    'Ana,Silva,ana@example.com,+61400000001',
    'Bo,Li,bo@example.com,+61400000002',
    ' ANA ,SILVA,Ana@Example.com,+61 (400) 000-001',
    'Ana,Si\u200Blva,ana@example.com,+61400000001',
  ]
  const { code, found } = await check(await world(), `${simple}\n${rows.join('\n')}\n`)
  expect([code, found.duplicates]).toEqual([
    0,
    [
      [1, 3],
      [1, 4],
    ],
  ])
})

test('--errors writes the bad rows as they are, and what is wrong with them', async () => {
  const place = await world()
  const text = `${simple}\nAna,Silva,ana@example.com,+61400000001\nBo,Li,=bo,0400\n`
  await check(place, text, ['--errors', 'mend.csv'])
  const lines = readFileSync(join(place.folder, 'mend.csv'), 'utf8').trim().split('\n')
  expect(lines[0]).toBe(`${simple},refcheck_row,refcheck_column,refcheck_problem,refcheck_suggestion`)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(/^Bo,Li,'=bo,0400,2,"email; phone",/)
  expect((await check(place, text, ['--errors', 'mend.csv'])).found.error?.message).toContain(
    'exists already',
  )
})
