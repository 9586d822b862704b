import { expect, test } from 'vitest'

import { likelySuccessor, schemaChanges } from '../../../src/domain/batch/package-replacement.ts'
import type { Package } from '../../../src/contract/package.ts'
import { schemaOf } from '../form/sample-schema.ts'

const createPackage = (id: number, name: string, status = 'ACTIVE'): Package => ({
  id,
  name,
  status,
  details: { reference_survey: null, background_checks: [] },
})

test('the likely successor has the same name, is ACTIVE and has the highest id above that of the package', () => {
  const inactivePackage = createPackage(5, 'Screen', 'INACTIVE')
  expect(
    likelySuccessor(inactivePackage, [
      createPackage(6, 'Screen'),
      createPackage(8, 'Screen'),
      createPackage(7, 'Screen'),
    ])?.id,
  ).toBe(8)
  expect(
    likelySuccessor(inactivePackage, [createPackage(4, 'Screen'), createPackage(5, 'Screen')]),
  ).toBeUndefined()
  expect(
    likelySuccessor(inactivePackage, [createPackage(6, 'Other'), createPackage(7, 'Screen', 'DISABLED')]),
  ).toBeUndefined()
})

test('schemaChanges lists the changed, new and removed fields of a schema', () => {
  const before = schemaOf({
    a: {
      same: ['string', true],
      typed: ['string', false],
      needed: ['string', false],
      free: ['string', true],
      gone: ['string', true],
    },
  })
  const after = schemaOf({
    a: {
      same: ['string', true],
      typed: ['number', false],
      needed: ['string', true],
      free: ['string', false],
    },
    b: { asked: ['string', true], offered: ['string', false] },
  })
  const changes = schemaChanges(before, after)
  expect(changes.map(({ field, required }) => [field, required])).toEqual([
    ['a.typed', false],
    ['a.needed', true],
    ['a.free', false],
    ['b.asked', true],
    ['b.offered', false],
    ['a.gone', false],
  ])
  expect(changes[0]?.change).toMatch(/string .* number/)
  expect(schemaChanges(before, before)).toEqual([])
})
