import { expect, test } from 'vitest'

import {
  sourceIds,
  isSingleSource,
  type ReportTarget,
  requireUrlOf,
} from '../../../src/domain/report/source.ts'
import { policeCheck } from './target.ts'

const checkId = '0c9d8e7f-1a2b-4c3d-8e4f-5a6b7c8d9e0f'
const otherCheckId = '1c9d8e7f-1a2b-4c3d-8e4f-5a6b7c8d9e0f'
const background: ReportTarget = { ...policeCheck, checkId, refereeId: undefined }
const reference: ReportTarget = { ...policeCheck, checkId, refereeId: 'r:7/ä' }
const createUrl = (path: string): string =>
  `https://api.example.com/gw/v1/reports/${path}?t=x/v1/reports/${checkId}`

test.each<[ReportTarget, string]>([
  [background, checkId],
  [background, checkId.toUpperCase()],
  [reference, `${checkId}/referees/r%3A7%2F%C3%A4`],
])('a URL with the ids of the report is accepted', (report, path) => {
  expect(() => requireUrlOf(report, createUrl(path))).not.toThrow()
})

test.each<[string, ReportTarget, string]>([
  ['another check', background, otherCheckId],
  ['a referee of the check', background, `${checkId}/referees/7`],
  ['the check of a referee', reference, checkId],
  ['another referee', reference, `${checkId}/referees/8`],
  ['the same referee of another check', reference, `${otherCheckId}/referees/r%3A7%2F%C3%A4`],
  ['nothing', background, ''],
  ['the check in another part of the path', background, `${otherCheckId}/${checkId}`],
])('a report URL of %s is refused as malformed', (_what, report, path) => {
  expect(() => requireUrlOf(report, createUrl(path))).toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  )
})

test('the ids of a report URL are read from its path', () => {
  expect(sourceIds({ kind: 'url', url: createUrl(`${checkId.toUpperCase()}/referees/r%2D1`) })).toEqual({
    checkId,
    refereeId: 'r-1',
  })
})

test('given ids are returned unchanged', () => {
  expect(sourceIds({ kind: 'ids', checkId, refereeId: 'r-1' })).toMatchObject({ checkId, refereeId: 'r-1' })
})

test('the case of a check id is ignored', () => {
  expect(() =>
    requireUrlOf({ ...background, checkId: checkId.toUpperCase() }, createUrl(checkId)),
  ).not.toThrow()
})

test('the error names the report that was requested', () => {
  expect(() => requireUrlOf(background, createUrl(otherCheckId))).toThrow(
    new RegExp(`for another check or referee than ${checkId}$`),
  )
  expect(() => requireUrlOf(reference, createUrl(otherCheckId))).toThrow(`than ${checkId}, referee r:7/ä`)
})

test('ids and a URL select a single report, a batch does not', () => {
  expect(isSingleSource({ kind: 'ids', checkId, refereeId: undefined })).toBe(true)
  expect(isSingleSource({ kind: 'url', url: createUrl(checkId) })).toBe(true)
  expect(isSingleSource({ kind: 'batch', batchId: 'b' })).toBe(false)
})
