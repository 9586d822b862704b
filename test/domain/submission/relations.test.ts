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

const at = { service: 'https://a.example.com', packageId: 7 }
const pair = (
  packageId: number,
  successorId: number,
  over: Partial<PackageRelation> = {},
): PackageRelation => ({
  service: at.service,
  packageId,
  successorId,
  how: 'moved',
  ...over,
})

test('a service is the same as itself; for another one the user’s decision counts, in either direction', () => {
  const decisions = [
    { service: 'https://b.example.com', otherService: at.service, isSame: true },
    { service: at.service, otherService: 'https://c.example.com', isSame: false },
  ]
  const { isSameService } = relationsOf(at, decisions, [])
  const services = [at.service, 'https://b.example.com', 'https://c.example.com', 'https://d.example.com']
  expect(services.map((each) => isSameService(each))).toEqual([true, true, false, undefined])
})

test('moved packages are related; a package with a likely successor among them is a predecessor', () => {
  const { relatedIds, predecessors } = relationsOf(
    at,
    [],
    [pair(6, 7), pair(3, 6, { how: 'likely' }), pair(2, 9, { how: 'likely' })],
  )
  expect([relatedIds, predecessors]).toEqual([new Set([7, 6]), new Set([3])])
})

test('relations of another service count if the user declared it as the same service', () => {
  const other = 'https://b.example.com'
  const pairs = [pair(6, 7, { service: other })]
  expect(relationsOf(at, [], pairs).relatedIds).toEqual(new Set([7]))
  const decisions = [{ service: at.service, otherService: other, isSame: true }]
  expect(relationsOf(at, decisions, pairs).relatedIds).toEqual(new Set([7, 6]))
})
