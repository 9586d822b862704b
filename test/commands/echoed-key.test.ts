import { expect, test } from 'vitest'

import { readAllFiles } from '../harness/files.ts'
import { sessionWithOrders } from '../harness/orders.ts'
import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('echo', { mustNotHappen: 'statuses with a key shown or stored' })

const token = 'eyJjaGVjayI6IjBjOWQ4ZTdmIn0'
const requestId = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
const checkId = '0c9d8e7f-1a2b-4c3d-8e4f-5a6b7c8d9e0f'

/** Returns an answer whose message repeats the request, as a gateway in debug mode does. */
function createEcho(status: number, request: Request): Response {
  const sent = JSON.stringify({ url: request.url, headers: Object.fromEntries(request.headers) })
  return Response.json({ data: null, status_message: 'ERROR', message: `you sent ${sent}` }, { status })
}

const person = '--first-name Ana --last-name Lee --email ana@example.com --phone +61412345678'
const people = 'first_name,last_name,email,phone\nBo,Ray,bo@example.com,+61412345679\n'

test.each([400, 401, 403, 404, 422, 500])(
  'a key and a token that a service repeats in an answer with %i are neither shown nor stored',
  async (status) => {
    const here = await session()
    here.write('people.csv', people)
    // Caches the schema, so that the answer to the order itself is the one that repeats the key.
    await here.type('batch validate people.csv --package 101')
    here.intercept((request) => createEcho(status, request))
    let printed = ''
    for (const line of [
      'packages list',
      'users list --json',
      `request get ${requestId}`,
      `request create --package 101 ${person} --yes`,
      'batch run people.csv --package 101 --yes',
      'batch run people.csv --package 101 --yes --json',
      `report download ${checkId} --output report.pdf`,
      `report download --url ${here.url}/v1/reports/${checkId}?t=${token} --output report.pdf`,
      'doctor --verbose',
    ]) {
      const { stdout, stderr } = await here.type(line)
      printed += stdout + stderr
    }
    expect(printed).toContain('[API key]')
    for (const text of [printed, readAllFiles(here.folder)]) {
      expect(text).not.toContain(here.sandbox.credentials.apiKey)
      expect(text.replaceAll(`?t=${token} --output`, '')).not.toContain(token)
    }
  },
)

test('the token of a report URL that an answer repeats as its content type is not shown', async () => {
  const { type, intercept, sandbox } = await sessionWithOrders(['Ana'])
  const tokens: string[] = []
  intercept((request, ask) => {
    const { pathname, searchParams } = new URL(request.url)
    if (!pathname.startsWith('/v1/reports/')) return ask(request)
    tokens.push(searchParams.get('t') ?? '')
    return new Response('', { headers: { 'content-type': `application/${tokens.at(-1)}` } })
  })
  const { code, stdout, stderr } = await type('report sync --output reports --verbose')
  expect([sandbox.requests().length, code, tokens.length]).toEqual([1, 10, 1])
  expect(stdout).toContain('the answer is not a PDF')
  expect(stdout + stderr).not.toContain(tokens[0])
})
