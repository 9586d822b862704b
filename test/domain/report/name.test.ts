import fc from 'fast-check'
import { expect, test } from 'vitest'

import { namePart, plainReportName, reportFileName } from '../../../src/domain/report/name.ts'
import type { ReportTarget } from '../../../src/domain/report/targets.ts'

const target: ReportTarget = {
  requestId: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  checkId: '8fdec42c-8142-447a-94bd-92a51a5554a7',
  refereeId: undefined,
  title: 'National police check',
  person: { firstName: 'Tomás', lastName: "O'Brien" },
  url: undefined,
  status: 'COMPLETED',
}

test('a name that sorts by person and tells the check', () => {
  expect(reportFileName(target)).toMatch(/^O-Brien-Tomás_National-police-check_[0-9a-f]{8}\.pdf$/)
})

test.each([
  ['../../etc/passwd', 'etc-passwd'],
  ['..', ''],
  ['a/b\\c:d*e?f"g<h>i|j', 'a-b-c-d-e-f-g-h-i-j'],
  ['nul\u0000l', 'nul-l'],
  ['\u202Egnp.exe', 'gnp-exe'],
  ['CON', 'CON-'],
  ['lpt1', 'lpt1-'],
  ['  spaces  ', 'spaces'],
  ['-rf', 'rf'],
  ['e\u0301', 'é'],
])('%j becomes %j', (hostile, safe) => {
  expect(namePart(hostile)).toBe(safe)
})

test('two reports never share a name, even of people and checks that do', () => {
  const other = { ...target, checkId: '0015c63c-2f1d-4eb8-b4bd-fc4b646f731c' }
  const referee = { ...target, refereeId: '7' }
  expect(new Set([target, other, referee].map(reportFileName)).size).toBe(3)
})

test('whatever the service sends, the name is one part of a path that every system takes', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', 'con', 'x'.repeat(9000)),
  )
  fc.assert(
    fc.property(text, text, text, text, (firstName, lastName, title, checkId) => {
      const names = [
        reportFileName({ ...target, checkId, title, person: { firstName, lastName } }),
        plainReportName(checkId, title),
      ]
      for (const name of names) {
        expect(name).toMatch(/^[\p{L}\p{M}\p{N}_-]+\.pdf$/u)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
        expect(name).not.toMatch(/^-/)
      }
    }),
  )
})
