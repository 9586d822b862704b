import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

/* Rules of src/docs/ordering.md that only a whole batch can test. */
const run = 'batch run people.csv --package 102 --yes --json'
const minute = 60_000
const isOrder = ({ method, url }: Request): boolean => method === 'POST' && url.endsWith('/v1/requests')

const refusal = Response.json(
  {
    status_code: 400,
    status_message: 'client_error',
    message: 'additional_information.consent.consent_method: is required',
    data: null,
  },
  { status: 400 },
)

const consent = {
  display_name: 'Consent',
  code: 'consent',
  fields: { consent_method: { type: 'string', required: true, description: 'How it was given.' } },
}

async function startBatch(here: Session): Promise<string> {
  return ((await here.type(`${run} --max 1`)).json() as { batch_id: string }).batch_id
}

const readStates = async ({ type }: Session, batchId: string): Promise<string[]> =>
  ((await type(`batch rows ${batchId} --json`)).json() as { state: string }[]).map(({ state }) => state)

describe('a 400 for a missing field', () => {
  test.each([
    ['if the schema has changed, the rows that no longer fit are not sent', true, 10, 1],
    ['if the schema has not changed, the refused row is rejected, and the other rows are sent', false, 10, 2],
  ])('%s', async (_title, isChanged, exitCode, orderCount) => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(3))
    const id = await startBatch(here)
    let refused = 0
    here.intercept(async (request, ask) => {
      if (isOrder(request) && refused === 0) {
        refused += 1
        return refusal.clone()
      }
      const answer = await ask(request)
      if (!isChanged || !request.url.endsWith('/schema')) return answer
      const { data, ...envelope } = (await answer.json()) as { data: { fields: object } }
      const fields = { ...data.fields, additional_information: [consent] }
      return Response.json({ ...envelope, data: { ...data, fields } })
    })
    const resumed = await here.type(`batch resume ${id} --yes`)
    expect([resumed.code, here.listOrderedEmails().length]).toEqual([exitCode, orderCount])
    expect(await readStates(here, id)).toEqual(['accepted', 'rejected', isChanged ? 'pending' : 'accepted'])
    expect(resumed.stderr.includes('the schema of package 102 has changed: 1 of the rows')).toBe(isChanged)
  })
})

test('a person whose request ended in ERROR is held in a file, and is ordered once the row is released', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(1))
  await here.type(run)
  here.intercept(async (request, ask) => {
    const answer = await ask(request)
    if (request.method !== 'GET' || !request.url.includes('/v1/requests/')) return answer
    const body = (await answer.json()) as { data: object }
    return Response.json({ ...body, data: { ...body.data, status: 'ERROR' } })
  })
  expect((await here.type('request list --refresh')).stdout).toContain('ERROR')
  here.intercept(undefined)
  writePeopleFile(here.folder, createEmails(2), 'again.csv')
  const again = await here.type('batch run again.csv --package 102 --yes --json')
  expect([again.code, again.json()]).toMatchObject([10, { counts: { held: 1, accepted: 1 } }])
  const { batch_id } = again.json() as { batch_id: string }
  expect((await here.type(`batch release ${batch_id} --row 1`)).code).toBe(0)
  expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com', 'a1@example.com'])
})

test('while a runner has the lease of the batch, no other process sends, decides, retries, cancels or asks for an order', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1+cut-before@example.com', ...createEmails(2, '-b')])
  const id = await startBatch(here)
  await here.clock.advance(20 * minute)
  const lines = [
    `batch resume ${id} --yes`,
    'batch run people.csv --package 102 --yes',
    `batch resume ${id}`,
    'batch run people.csv --package 102',
    `batch reconcile ${id} --row 1 --confirm-email a1+cut-before@example.com`,
    `batch cancel ${id} --yes`,
    `batch retry ${id}`,
  ]
  const refused: [string, number, boolean][] = []
  here.intercept(async (request, ask) => {
    if (isOrder(request) && refused.length === 0) {
      for (const line of lines) {
        const { code, stderr } = await here.type(line, { answers: [] })
        refused.push([line, code, stderr.includes('is being run by process')])
      }
    }
    return ask(request)
  })
  await here.type(`batch resume ${id} --yes`)
  expect(refused).toEqual(lines.map((line) => [line, 10, true]))
  expect(here.listOrderedEmails()).toEqual(createEmails(2, '-b'))
})

test('--allow-duplicate in a file: a person ordered on the same day is held, a person ordered 8 days ago is ordered', async () => {
  const here = await session()
  const header = 'first_name,last_name,email,phone'
  const row = (name: string): string => `${name},Row,${name}@example.com,+6140000000${name.length}`
  const write = (name: string, rows: string[]): void =>
    writeFileSync(join(here.folder, name), `${header}\n${rows.join('\n')}\n`)
  write('old.csv', [row('ann')])
  await here.type('batch run old.csv --package 102 --yes')
  await here.clock.advance(8 * 24 * 60 * minute)
  write('new.csv', [row('zelda')])
  await here.type('batch run new.csv --package 102 --yes')
  write('both.csv', [row('ann'), row('zelda')])
  const outcome = await here.type('batch run both.csv --package 102 --yes --allow-duplicate --json')
  expect([outcome.code, outcome.json()]).toMatchObject([10, { counts: { accepted: 1, held: 1 } }])
  expect(here.listOrderedEmails()).toEqual(['ann@example.com', 'zelda@example.com', 'ann@example.com'])
})

test('a batch whose last row is in flight cannot be cancelled, because that row may become pending again', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(1))
  let cancelled: { code: number; stderr: string } | undefined
  here.intercept(async (request, ask) => {
    if (isOrder(request) && cancelled === undefined) {
      const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
      cancelled = await here.type(`batch cancel ${batch?.batch_id} --yes`)
    }
    return ask(request)
  })
  await here.type(run)
  expect(cancelled).toMatchObject({ code: 10, stderr: expect.stringContaining('is being run by process') })
})
