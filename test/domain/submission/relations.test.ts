import { expect, test } from 'vitest'

import {
  type PackageRelation,
  relatedPackages,
  relationsOf,
} from '../../../src/domain/submission/conflicts.ts'

test('a package is one with all that moves join it to, however long the chain and in whatever order', () => {
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

test('one that nothing was moved to or from is alone', () => {
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

test('a service is one with itself, and with another as a person decided, in either order; else it is not known', () => {
  const decisions = [
    { service: 'https://b.example.com', otherService: at.service, isSame: true },
    { service: at.service, otherService: 'https://c.example.com', isSame: false },
  ]
  const { isSameService } = relationsOf(at, decisions, [])
  const services = [at.service, 'https://b.example.com', 'https://c.example.com', 'https://d.example.com']
  expect(services.map((each) => isSameService(each))).toEqual([true, true, false, undefined])
})

test('moves join packages; a likely successor of any of them only makes a predecessor', () => {
  const { relatedIds, predecessors } = relationsOf(
    at,
    [],
    [pair(6, 7), pair(3, 6, { how: 'likely' }), pair(2, 9, { how: 'likely' })],
  )
  expect([relatedIds, predecessors]).toEqual([new Set([7, 6]), new Set([3])])
})

test('pairs of another service count where it was said to be this one', () => {
  const other = 'https://b.example.com'
  const pairs = [pair(6, 7, { service: other })]
  expect(relationsOf(at, [], pairs).relatedIds).toEqual(new Set([7]))
  const decisions = [{ service: at.service, otherService: other, isSame: true }]
  expect(relationsOf(at, decisions, pairs).relatedIds).toEqual(new Set([7, 6]))
})
