import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, test } from 'vitest'

import { fullOrder, hour, jane, refusal, simpleOrder, visit, type Visit } from '../visit.ts'

const uuid = '00000000-0000-4000-8000-000000000000'

/** A finished request, with one background and one referee report of it. */
async function finished(where: Visit) {
  const id = await where.order(fullOrder)
  await where.clock.advance(hour)
  const { checks } = await where.read(id)
  const [reference, police, credit] = checks
  const [referee, second] = reference?.references ?? []
  return {
    id,
    police: { path: `/v1/reports/${police?.id}`, url: police?.report_pdf_url ?? '' },
    credit: { path: `/v1/reports/${credit?.id}`, url: credit?.report_pdf_url ?? '' },
    referee: {
      path: `/v1/reports/${reference?.id}/referees/${referee?.referee_id}`,
      url: referee?.report_pdf_url ?? '',
    },
    second: { url: second?.report_pdf_url ?? '' },
    reference: reference?.id ?? '',
  }
}

test.each(['police', 'referee'] as const)('downloads a real PDF of a %s report', async (which) => {
  const where = visit()
  const report = (await finished(where))[which]
  const answer = await where.get(report.path)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toBe('application/pdf')
  expect(answer.headers.get('Cache-Control')).toBe('no-store')
  expect(answer.bytes.subarray(0, 5).toString()).toBe('%PDF-')
  expect(answer.bytes.toString('latin1').trimEnd()).toMatch(/%%EOF$/)
  const document = await PDFDocument.load(answer.bytes)
  expect(document.getPageCount()).toBe(1)
  expect(document.getTitle()).toBe(which === 'police' ? 'National police check' : 'Reference report')
})

test('the same report is the same bytes every time', async () => {
  const where = visit()
  const { police } = await finished(where)
  const first = await where.get(police.path)
  await where.clock.advance(hour)
  expect((await where.get(police.path)).bytes.equals(first.bytes)).toBe(true)
})

test('a name in any script makes a report', async () => {
  const where = visit({ rules: { 'control-characters': 'accepted' } })
  const recipient = { ...jane, first_name: '花子', last_name: 'Łukasz\n😀' }
  const id = await where.order({ ...simpleOrder, recipient })
  await where.clock.advance(hour)
  const { checks } = await where.read(id)
  expect((await where.get(checks[0]?.report_pdf_url ?? '', {})).status).toBe(200)
})

test('`t` replaces the authentication headers', async () => {
  const where = visit()
  const { police, referee } = await finished(where)
  expect((await where.get(police.url, {})).status).toBe(200)
  expect((await where.get(referee.url, {})).status).toBe(200)
  expect((await where.get(police.path, {})).status).toBe(401)
})

test('report URLs are absolute, on the origin the client called', async () => {
  const where = visit()
  const { police, id } = await finished(where)
  expect(police.url.startsWith(`http://127.0.0.1:4010${police.path}?t=`)).toBe(true)
  const answer = await where.get(`https://api.example.com/v1/requests/${id}`)
  expect(JSON.stringify(answer.envelope().data)).toContain(`https://api.example.com${police.path}?t=`)
})

test('each read produces fresh signed URLs, and the earlier ones stay good', async () => {
  const where = visit()
  const { id, police } = await finished(where)
  const again = (await where.read(id)).checks[1]?.report_pdf_url ?? ''
  expect(again).not.toBe(police.url)
  expect((await where.get(again, {})).status).toBe(200)
  expect((await where.get(police.url, {})).status).toBe(200)
})

test('a token is valid for 1 hour, and a fresh one is obtained by reading again', async () => {
  const where = visit()
  const { id, police } = await finished(where)
  await where.clock.advance(hour - 1)
  expect((await where.get(police.url, {})).status).toBe(200)
  await where.clock.advance(1)
  const expired = await where.get(police.url, {})
  expect(expired.status).toBe(401)
  expect(expired.envelope()).toEqual(refusal('invalid or expired report token'))
  const fresh = (await where.read(id)).checks[1]?.report_pdf_url ?? ''
  expect((await where.get(fresh, {})).status).toBe(200)
})

test('a token is good for the report it was issued for and no other', async () => {
  const where = visit()
  const { police, credit, referee, second } = await finished(where)
  const token = (url: string): string => new URL(url).searchParams.get('t') ?? ''
  for (const [path, other] of [
    [police.path, credit.url],
    [police.path, referee.url],
    [referee.path, police.url],
    [referee.path, second.url],
  ] as const) {
    expect((await where.get(`${path}?t=${token(other)}`, {})).status).toBe(401)
  }
})

test.each(['', 'x', 'a.b.c', '..', 'zzzzzzzzz.1.AAAA'])(
  'an invalid token (%j) is a 401, beside good headers too',
  async (t) => {
    const where = visit()
    const { police } = await finished(where)
    expect((await where.get(`${police.path}?t=${t}`)).status).toBe(401)
  },
)

test('a token with a later end is a 401', async () => {
  const where = visit()
  const { police } = await finished(where)
  const [end = '', ...rest] = (new URL(police.url).searchParams.get('t') ?? '').split('.')
  const later = (Number.parseInt(end, 36) + hour).toString(36)
  expect((await where.get(`${police.path}?t=${[later, ...rest].join('.')}`, {})).status).toBe(401)
})

test('a report that is not there is a 404', async () => {
  const where = visit()
  const { reference } = await finished(where)
  for (const path of [
    `/v1/reports/${uuid}`,
    '/v1/reports/no-uuid',
    `/v1/reports/${reference}`,
    `/v1/reports/${reference}/referees/0`,
    `/v1/reports/${uuid}/referees/1`,
  ]) {
    const answer = await where.get(path)
    expect(answer.status).toBe(404)
    expect(answer.envelope()).toEqual(refusal('resource not found'))
  }
})

test('a report that is not yet available is a 404', async () => {
  const where = visit()
  const id = await where.order(simpleOrder)
  await where.clock.advance(5 * 60_000)
  const check = (await where.read(id)).checks[0]
  expect(check).toMatchObject({ status: 'IN_PROGRESS', report_pdf_url: null })
  expect((await where.get(`/v1/reports/${check?.id}`)).status).toBe(404)
  await where.clock.advance(hour)
  expect((await where.get(`/v1/reports/${check?.id}`)).status).toBe(200)
})

test('a report of another organisation is a 404', async () => {
  const where = visit()
  const { police } = await finished(where)
  const { apiKey, userEmail } = where.sandbox.otherOrganisation
  const foreign = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  expect((await where.get(police.path, foreign)).status).toBe(404)
})
