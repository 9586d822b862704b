import { expect, test } from 'vitest'

import {
  type PackageRelation,
  relatedPackages,
  relationsOf,
} from '../../../src/domain/submission/conflicts.ts'

test('a package is related to all packages that moves connect it with, directly or in a chain', () => {
  const pairs = [
    [1, 2],
    [6, 7],
    [5, 6],
    [4, 5],
  ] as const
  expect([...relatedPackages(4, pairs)].toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7])
  expect([...relatedPackages(7, pairs)].toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7])
  expect([...relatedPackages(2, pairs)].toSorted((a, b) => a - b)).toEqual([1, 2])
})

test('a package without moves is related only to itself', () => {
  expect([...relatedPackages(3, [[1, 2]])]).toEqual([3])
})

const orderedPackage = { service: 'https://a.example.com', packageId: 7 }
const createRelation = (
  packageId: number,
  successorId: number,
  changes: Partial<PackageRelation> = {},
): PackageRelation => ({
  service: orderedPackage.service,
  packageId,
  successorId,
  how: 'moved',
  ...changes,
})

test('a service is the same as itself; for another one the user’s decision counts, in either direction', () => {
  const decisions = [
    { service: 'https://b.example.com', otherService: orderedPackage.service, isSame: true },
    { service: orderedPackage.service, otherService: 'https://c.example.com', isSame: false },
  ]
  const { isSameService } = relationsOf(orderedPackage, decisions, [])
  const services = [
    orderedPackage.service,
    'https://b.example.com',
    'https://c.example.com',
    'https://d.example.com',
  ]
  expect(services.map((each) => isSameService(each))).toEqual([true, true, false, undefined])
})

test('moved packages are related; a package with a likely successor among them is a predecessor', () => {
  const { relatedIds, predecessors } = relationsOf(
    orderedPackage,
    [],
    [createRelation(6, 7), createRelation(3, 6, { how: 'likely' }), createRelation(2, 9, { how: 'likely' })],
  )
  expect([relatedIds, predecessors]).toEqual([new Set([7, 6]), new Set([3])])
})

test('relations of another service count if the user declared it as the same service', () => {
  const other = 'https://b.example.com'
  const pairs = [createRelation(6, 7, { service: other })]
  expect(relationsOf(orderedPackage, [], pairs).relatedIds).toEqual(new Set([7]))
  const decisions = [{ service: orderedPackage.service, otherService: other, isSame: true }]
  expect(relationsOf(orderedPackage, decisions, pairs).relatedIds).toEqual(new Set([7, 6]))
})
