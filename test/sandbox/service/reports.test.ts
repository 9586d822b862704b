import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, test } from 'vitest'

import {
  fullOrder,
  hour,
  jane,
  refusal,
  simpleOrder,
  createSandboxClient,
  type SandboxClient,
} from '../sandbox-client.ts'

const unknownId = '00000000-0000-4000-8000-000000000000'

/** Creates a request, completes it, and returns the paths and URLs of its reports. */
async function createReports(client: SandboxClient) {
  const id = await client.order(fullOrder)
  await client.clock.advance(hour)
  const { checks } = await client.read(id)
  const [reference, police, credit] = checks
  const [referee, secondReferee] = reference?.references ?? []
  return {
    id,
    police: { path: `/v1/reports/${police?.id}`, url: police?.report_pdf_url ?? '' },
    credit: { path: `/v1/reports/${credit?.id}`, url: credit?.report_pdf_url ?? '' },
    referee: {
      path: `/v1/reports/${reference?.id}/referees/${referee?.referee_id}`,
      url: referee?.report_pdf_url ?? '',
    },
    secondReferee: { url: secondReferee?.report_pdf_url ?? '' },
    referenceCheckId: reference?.id ?? '',
  }
}

test.each(['police', 'referee'] as const)(
  'the download of a %s report is a valid PDF of one page',
  async (name) => {
    const client = createSandboxClient()
    const report = (await createReports(client))[name]
    const answer = await client.get(report.path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('application/pdf')
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(answer.bytes.subarray(0, 5).toString()).toBe('%PDF-')
    expect(answer.bytes.toString('latin1').trimEnd()).toMatch(/%%EOF$/)
    const document = await PDFDocument.load(answer.bytes)
    expect(document.getPageCount()).toBe(1)
    expect(document.getTitle()).toBe(name === 'police' ? 'National police check' : 'Reference report')
  },
)

test('each download of a report has the same bytes', async () => {
  const client = createSandboxClient()
  const { police } = await createReports(client)
  const first = await client.get(police.path)
  await client.clock.advance(hour)
  expect((await client.get(police.path)).bytes.equals(first.bytes)).toBe(true)
})

test('a report can be made for a name in any script', async () => {
  const client = createSandboxClient({ rules: { 'control-characters': 'accepted' } })
  const recipient = { ...jane, first_name: '花子', last_name: 'Łukasz\n😀' }
  const id = await client.order({ ...simpleOrder, recipient })
  await client.clock.advance(hour)
  const { checks } = await client.read(id)
  expect((await client.get(checks[0]?.report_pdf_url ?? '', {})).status).toBe(200)
})

test('`t` replaces the authentication headers', async () => {
  const client = createSandboxClient()
  const { police, referee } = await createReports(client)
  expect((await client.get(police.url, {})).status).toBe(200)
  expect((await client.get(referee.url, {})).status).toBe(200)
  expect((await client.get(police.path, {})).status).toBe(401)
})

test('report URLs are absolute, with the origin that the client called', async () => {
  const client = createSandboxClient()
  const { police, id } = await createReports(client)
  expect(police.url.startsWith(`http://127.0.0.1:4010${police.path}?t=`)).toBe(true)
  const answer = await client.get(`https://api.example.com/v1/requests/${id}`)
  expect(JSON.stringify(answer.envelope().data)).toContain(`https://api.example.com${police.path}?t=`)
})

test('each read produces fresh signed URLs, and the earlier ones stay valid', async () => {
  const client = createSandboxClient()
  const { id, police } = await createReports(client)
  const newUrl = (await client.read(id)).checks[1]?.report_pdf_url ?? ''
  expect(newUrl).not.toBe(police.url)
  expect((await client.get(newUrl, {})).status).toBe(200)
  expect((await client.get(police.url, {})).status).toBe(200)
})

test('a token is valid for 1 hour, and a read of the request gives a new one', async () => {
  const client = createSandboxClient()
  const { id, police } = await createReports(client)
  await client.clock.advance(hour - 1)
  expect((await client.get(police.url, {})).status).toBe(200)
  await client.clock.advance(1)
  const expiredAnswer = await client.get(police.url, {})
  expect(expiredAnswer.status).toBe(401)
  expect(expiredAnswer.envelope()).toEqual(refusal('invalid or expired report token'))
  const newUrl = (await client.read(id)).checks[1]?.report_pdf_url ?? ''
  expect((await client.get(newUrl, {})).status).toBe(200)
})

test('a token is valid only for the report for which it was issued', async () => {
  const client = createSandboxClient()
  const { police, credit, referee, secondReferee } = await createReports(client)
  const readToken = (url: string): string => new URL(url).searchParams.get('t') ?? ''
  for (const [path, otherUrl] of [
    [police.path, credit.url],
    [police.path, referee.url],
    [referee.path, police.url],
    [referee.path, secondReferee.url],
  ] as const) {
    expect((await client.get(`${path}?t=${readToken(otherUrl)}`, {})).status).toBe(401)
  }
})

test.each(['', 'x', 'a.b.c', '..', 'zzzzzzzzz.1.AAAA'])(
  'an invalid token (%j) is a 401, even with valid headers',
  async (token) => {
    const client = createSandboxClient()
    const { police } = await createReports(client)
    expect((await client.get(`${police.path}?t=${token}`)).status).toBe(401)
  },
)

test('a token whose end was changed is a 401', async () => {
  const client = createSandboxClient()
  const { police } = await createReports(client)
  const [end = '', ...otherParts] = (new URL(police.url).searchParams.get('t') ?? '').split('.')
  const laterEnd = (Number.parseInt(end, 36) + hour).toString(36)
  expect((await client.get(`${police.path}?t=${[laterEnd, ...otherParts].join('.')}`, {})).status).toBe(401)
})

test('a report that does not exist is a 404', async () => {
  const client = createSandboxClient()
  const { referenceCheckId } = await createReports(client)
  for (const path of [
    `/v1/reports/${unknownId}`,
    '/v1/reports/no-unknownId',
    `/v1/reports/${referenceCheckId}`,
    `/v1/reports/${referenceCheckId}/referees/0`,
    `/v1/reports/${unknownId}/referees/1`,
  ]) {
    const answer = await client.get(path)
    expect(answer.status).toBe(404)
    expect(answer.envelope()).toEqual(refusal('resource not found'))
  }
})

test('a report that is not yet available is a 404', async () => {
  const client = createSandboxClient()
  const id = await client.order(simpleOrder)
  await client.clock.advance(5 * 60_000)
  const check = (await client.read(id)).checks[0]
  expect(check).toMatchObject({ status: 'IN_PROGRESS', report_pdf_url: null })
  expect((await client.get(`/v1/reports/${check?.id}`)).status).toBe(404)
  await client.clock.advance(hour)
  expect((await client.get(`/v1/reports/${check?.id}`)).status).toBe(200)
})

test('a report of another organisation is a 404', async () => {
  const client = createSandboxClient()
  const { police } = await createReports(client)
  const { apiKey, userEmail } = client.sandbox.otherOrganisationOwner
  const foreignHeaders = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  expect((await client.get(police.path, foreignHeaders)).status).toBe(404)
})
