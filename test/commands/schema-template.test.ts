import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSheet } from '../../src/sheets/open.ts'
import { fileSource } from '../../src/sheets/source.ts'
import { exampleSheet } from '../../src/sheets/template.ts'
import { world } from '../harness/world.ts'
import { all, plain, plainJson } from '../sheets/table.ts'

const header =
  'first_name,last_name,email,phone,reference.position_title,reference.referee_relationships,' +
  'ncc_acic.date_of_birth,ncc_acic.licence_number,ncc_acic.is_volunteer,ncc_acic.previous_names,' +
  'ncc_acic.residential_address,icrc.years_of_history,icrc.annual_income'

test('a CSV is the header and nothing else', async () => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(['schema', 'template', '101'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(`${header}\n`)
})

test('a workbook to fill in, and what to do with it', async () => {
  const { run, folder } = await world()
  const { code, stdout, stderr } = await run(['schema', 'template', '101', '--output', 'people.xlsx'])
  expect(code).toBe(0)
  expect(stdout).toBe('written  people.xlsx  13 fields, 11 of them required\n')
  expect(stderr).toBe('Give each person a row, then: refcheck batch validate people.xlsx --package 101\n')
  expect(statSync(join(folder, 'people.xlsx')).mode & 0o777).toBe(0o600)
  const source = await fileSource(join(folder, 'people.xlsx'), 'people.xlsx')
  const open = (sheet?: string) => openSheet(source, { sheet, aside: [exampleSheet], readJson: plainJson })
  const people = await open()
  expect(people.columns.join(',')).toBe(header)
  expect(await all(people.rows())).toEqual([])
  const [example] = await all((await open(exampleSheet)).rows())
  expect(example?.cells.map(plain)).toEqual([
    'Priya',
    'Shah',
    'priya.shah@example.com',
    '+61400000000',
    'Position title of Priya',
    '["first", "second"]',
    '1990-04-30',
    'Licence number of Priya',
    'yes',
    '["first", "second"]',
    '{"name": "value"}',
    '3',
    '12.5',
  ])
})

test('a body whose placeholders are no values, and that is taken once they are', async () => {
  const { run, folder } = await world()
  const { code, stdout, stderr } = await run(['schema', 'template', '102', '--output', 'body.json', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    path: join(folder, 'body.json'),
    format: 'json',
    package_id: 102,
    fields: 4,
    required: 4,
  })
  expect(stderr).toContain('refcheck request create --file body.json')
  const unfilled = await run(['request', 'create', '--file', 'body.json', '--dry-run'])
  expect(unfilled.code).toBe(2)
  const body = JSON.parse(readFileSync(join(folder, 'body.json'), 'utf8')) as Record<string, unknown>
  expect(body).toEqual({
    package_id: 102,
    recipient: { first_name: '', last_name: '', email: '', phone: '' },
  })
  body['recipient'] = {
    first_name: 'Zoë',
    last_name: 'Ng',
    email: 'zoe@example.com',
    phone: '+61400000000',
  }
  writeFileSync(join(folder, 'body.json'), JSON.stringify(body))
  expect((await run(['request', 'create', '--file', 'body.json', '--dry-run'])).code).toBe(0)
})

test('--json is the body', async () => {
  const { run } = await world()
  const outcome = await run(['schema', 'template', '101', '--format', 'json', '--json'])
  expect(outcome.json()).toMatchObject({
    package_id: 101,
    additional_information: [
      { code: 'reference', fields: { position_title: '', referee_relationships: null } },
      { code: 'ncc_acic', fields: { date_of_birth: 'YYYY-MM-DD', is_volunteer: null } },
      { code: 'icrc', fields: { years_of_history: null } },
    ],
  })
})

test('a file that is there is left, unless it may be replaced', async () => {
  const { run, folder, sandbox } = await world()
  writeFileSync(join(folder, 'people.csv'), 'mine')
  const { code, stderr } = await run(['schema', 'template', '102', '--output', 'people.csv'])
  expect(code).toBe(2)
  expect(stderr).toBe(
    'Error: --output: people.csv exists already\nChoose another name, or replace it with --overwrite.\n',
  )
  expect(readFileSync(join(folder, 'people.csv'), 'utf8')).toBe('mine')
  expect(sandbox.log.entries()).toEqual([])
  expect((await run(['schema', 'template', '102', '--output', 'people.csv', '--overwrite'])).code).toBe(0)
  expect(readFileSync(join(folder, 'people.csv'), 'utf8')).toBe('first_name,last_name,email,phone\n')
})

test.each([
  [['--format', 'xlsx'], { tty: true }, 'a workbook is not written to a terminal'],
  [['--format', 'xlsx', '--json'], {}, '--json and a template as xlsx on stdout exclude each other'],
  [['--format', 'xlsx', '--output', 'people.csv'], {}, '--format xlsx does not fit --output people.csv'],
  [['--output', '.'], {}, '--output: . is a folder'],
])('%j is refused before anything is read', async (flags, options, words) => {
  const { run, sandbox } = await world()
  const { code, stdout, stderr } = await run(['schema', 'template', '102', ...flags], options)
  expect(code).toBe(2)
  expect(`${stdout}${stderr}`).toContain(words)
  expect(sandbox.log.entries()).toEqual([])
})

test('a workbook goes into a pipe', async () => {
  const { run } = await world()
  const { code, bytes, stderr } = await run(['schema', 'template', '102', '--format', 'xlsx'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004')
})
