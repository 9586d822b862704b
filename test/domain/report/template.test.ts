import fc from 'fast-check'
import { expect, test } from 'vitest'

import { defaultTemplate, numberedName, parseTemplate } from '../../../src/domain/report/template.ts'
import type { ReportTarget } from '../../../src/domain/report/source.ts'
import { policeCheck } from './target.ts'

const referee: ReportTarget = {
  ...policeCheck,
  refereeId: '837930',
  refereeName: 'Remy Referee',
  title: 'reference-Remy Referee',
}
const createName = (template: string, target = policeCheck): string => parseTemplate(template).name(target)

test('the default name starts with the person, followed by the check', () => {
  expect(createName(defaultTemplate)).toMatch(/^O-Brien-Tomás_National-police-check_[0-9a-f]{8}\.pdf$/)
  expect(createName(defaultTemplate, referee)).toMatch(
    /^O-Brien-Tomás_reference-Remy-Referee_[0-9a-f]{8}\.pdf$/,
  )
})

test('reports of the same person and check have different default names', () => {
  const other = { ...policeCheck, checkId: '0015c63c-2f1d-4eb8-b4bd-fc4b646f731c' }
  const reportOfReferee = { ...policeCheck, refereeId: '7' }
  expect(
    new Set([policeCheck, other, reportOfReferee].map((each) => createName(defaultTemplate, each))).size,
  ).toBe(3)
})

test.each([
  ['{last_name}-{first_name}/{check_name}-{date}.pdf', 'O-Brien-Tomás/National-police-check-2026-11-21.pdf'],
  ['{date} {last_name}, {first_name}', '2026-11-21 O-Brien, Tomás.pdf'],
  [
    'HR/{package_id}/{email} ({check_id})',
    'HR/101/tomas-example-com (8fdec42c-8142-447a-94bd-92a51a5554a7).pdf',
  ],
  ['{request_id}.PDF', '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.pdf'],
  // A background check has no referee; separators around empty fields are removed.
  ['{last_name}_{referee_name}_{referee_id}', 'O-Brien.pdf'],
  ['{referee_name}', 'unnamed.pdf'],
  ['{referee_id}/{last_name}', 'unnamed/O-Brien.pdf'],
  ['con.{package_id}', 'con-.101.pdf'],
  ['.hidden {last_name}. ', 'hidden O-Brien.pdf'],
])('the template "%s" gives the name %s', (template, name) => {
  expect(createName(template)).toBe(name)
})

test('a template may use the name and id of the referee', () => {
  expect(createName('{referee_name} {referee_id}', referee)).toBe('Remy-Referee 837930.pdf')
})

test('a part of the path has at most 240 bytes', () => {
  expect(createName(`${'x'.repeat(230)}{package_id}${'y'.repeat(230)}`)).toBe(
    `${'x'.repeat(230)}101${'y'.repeat(7)}.pdf`,
  )
})

test('a template with 500 characters or 8 folders is accepted, and one with more is refused', () => {
  const long = `{id}${'x'.repeat(496)}`
  expect(() => parseTemplate(long)).not.toThrow()
  expect(() => parseTemplate(`${long}x`)).toThrow('it is longer than 500 characters')
  const deep = `${'a/'.repeat(7)}{id}`
  expect(() => parseTemplate(deep)).not.toThrow()
  expect(() => parseTemplate(`a/${deep}`)).toThrow('it has more than 8 folders')
})

test('a creation time that is not a date becomes "undated"', () => {
  expect(createName('{date}', { ...policeCheck, createdAt: '../..' })).toBe('undated.pdf')
  expect(createName('{date}', { ...policeCheck, createdAt: '2026-02-30 or so' })).toBe('2026-02-30.pdf')
})

test.each([
  ['', 'a folder or file in it has no name'],
  ['/{last_name}', 'a folder or file in it has no name'],
  ['{last_name}//{id}', 'a folder or file in it has no name'],
  ['{last_name}/', 'a folder or file in it has no name'],
  [' /{last_name}', 'a folder or file in it has no name'],
  ['../{last_name}', '".." points to another folder'],
  ['{last_name}/./{id}', '"." points to another folder'],
  ['C:{last_name}', '":" is not allowed in file names on every system'],
  ['a\\{last_name}', '"\\" is not allowed in file names on every system'],
  ['{last_name', '"{" is not allowed in file names on every system'],
  ['{last_name}\u0000', '"\u0000" is not allowed in file names on every system'],
  ['{surname}', 'unknown field "surname"'],
  [`{${'x'.repeat(41)}}`, `unknown field "${'x'.repeat(40)}"`],
  ['{constructor}', 'unknown field "constructor"'],
  ['{last_name}/report', 'it has no field, so every report would have the same name'],
  ['{id}/'.repeat(9) + '{id}', 'it has more than 8 folders'],
  ['{id}'.repeat(200), 'it is longer than 500 characters'],
])('%j is refused', (template, why) => {
  expect(() => parseTemplate(template)).toThrow(`--name-template: ${why}`)
})

test('a numbered name keeps its extension', () => {
  expect([1, 2, 10].map((number) => numberedName('a/b.pdf', number))).toEqual([
    'a/b.pdf',
    'a/b-2.pdf',
    'a/b-10.pdf',
  ])
})

test('for any values every part of the path is valid on every system', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', 'con', 'aux.txt', 'x'.repeat(9000), '\u0301', '🙂'.repeat(200)),
  )
  const templates = [
    defaultTemplate,
    '{last_name}{first_name}{check_name}{email}{referee_name}/{referee_id}{check_name}{email}{last_name}{id}',
    '{check_name}/{last_name}.{first_name}',
  ].map(parseTemplate)
  fc.assert(
    fc.property(text, text, text, text, (firstName, lastName, title, refereeName) => {
      const person = { firstName, lastName, email: `${title}@example.com` }
      for (const template of templates) {
        const name = template.name({ ...policeCheck, person, title, refereeName, refereeId: title })
        expect(name.normalize('NFC')).toBe(name)
        for (const part of numberedName(name, 9999).split('/')) {
          expect(part).toMatch(/^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}_.-]*$/u)
          expect(part).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[. ]$/i)
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255)
        }
      }
    }),
  )
})
