import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { colleague } from '../harness/service-env.ts'
import { type Session, session } from '../harness/session.ts'

/* src/docs/ordering.md, section 4, "Results files": a row is compared with the current state of the row of the results file. */
const run = 'batch run people.csv --package 102 --yes'

/** Adds a batch of three rows, of which none is sent, with a results file of another name. */
async function addUnsentBatch() {
  const here = await session()
  writePeopleFile(here.folder, createEmails(3))
  here.sandbox.setCredits(0)
  const { batch_id } = (await here.type(`${run} --results mine.csv --json`)).json() as { batch_id: string }
  here.sandbox.setCredits(null)
  return { here, batch_id, other: colleague(here) }
}

const readStates = async ({ type }: Session, batchId: string): Promise<string[]> =>
  ((await type(`batch rows ${batchId} --json`)).json() as { state: string }[]).map(({ state }) => state)

test.each([['run'], ['resume']])(
  'batch %s compares the rows with results that a colleague wrote next to the input after the batch was added',
  async (verb) => {
    const { here, batch_id, other } = await addUnsentBatch()
    expect((await here.type(`${run} --max 2`, other)).code).toBe(10)
    expect(here.listOrderedEmails()).toEqual(createEmails(2))
    const again = await here.type(verb === 'run' ? run : `batch resume ${batch_id} --yes`)
    expect([again.code, here.listOrderedEmails()]).toEqual([10, createEmails(2)])
    expect(await readStates(here, batch_id)).toEqual(['duplicate', 'duplicate', 'held'])
    expect(again.stderr).toContain(`refcheck batch rows ${batch_id} --state held`)
  },
)

test('a released row is not sent if the results file shows later that it was ordered', async () => {
  const { here, batch_id, other } = await addUnsentBatch()
  await here.type(`${run} --max 2`, other)
  await here.type(run)
  expect((await here.type(`batch release ${batch_id} --row 3`)).code).toBe(0)
  expect((await here.type(run, other)).code).toBe(0)
  expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(0)
  expect([here.listOrderedEmails(), await readStates(here, batch_id)]).toEqual([
    createEmails(3),
    ['duplicate', 'duplicate', 'duplicate'],
  ])
})

test('a release of a row that is pending in the results file is still valid when the results are read again', async () => {
  const { here, batch_id, other } = await addUnsentBatch()
  await here.type(`${run} --max 2`, other)
  await here.type(run)
  await here.type(`batch release ${batch_id} --row 3`)
  await here.type(`batch resume ${batch_id} --yes`)
  expect(here.listOrderedEmails()).toEqual(createEmails(3))
})

test('batch resume uses the --ignore-results of the run', async () => {
  const { here, batch_id, other } = await addUnsentBatch()
  await here.type(`${run} --max 1`, other)
  expect((await here.type(`${run} --ignore-results --max 1`)).code).toBe(10)
  expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com', ...createEmails(3)])
})

test('a dry run of a file of an existing batch uses the current content of the results file next to it', async () => {
  const { here, batch_id, other } = await addUnsentBatch()
  await here.type(`${run} --max 2`, other)
  const dryRun = await here.type(`${run} --dry-run --json`)
  expect(dryRun.json()).toMatchObject({ batch_id, counts: { pending: 0, duplicate: 2, held: 1 } })
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('a row that is sent again by a person’s decision is first compared with the results file next to the input', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1+cut-before@example.com'])
  const { batch_id } = (await here.type(`${run} --results mine.csv --json`)).json() as { batch_id: string }
  here.write(
    'other.csv',
    'first_name,last_name,email,phone\nAna,Row1,a1+cut-before@example.com,+61400000001\n',
  )
  const other = colleague(here)
  await here.type('batch run other.csv --package 102 --yes --results people.results.csv', other)
  await here.clock.advance(20 * 60_000)
  const reconciled = await here.type(
    `batch reconcile ${batch_id} --row 1 --confirm-email a1+cut-before@example.com`,
  )
  expect([reconciled.code, await readStates(here, batch_id)]).toEqual([10, ['held']])
})

test('a request id in the input file that could not be read is read again in the next run', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(1))
  await here.type(run)
  const [request] = here.sandbox.requests()
  const id = request?.request_id ?? ''
  here.write(
    'old.csv',
    `first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error\nAna,Row1,a1@example.com,+61400000001,accepted,${id},RECEIVED,\n`,
  )
  const other = colleague(here)
  const unavailable = { kind: 'status', status: 503, when: 'before' } as const
  here.sandbox.inject({ on: `GET /v1/requests/${id}`, times: 4, fault: unavailable })
  const again = 'batch run old.csv --package 102 --yes --json'
  expect((await here.type(again, other)).json()).toMatchObject({ counts: { held: 1 } })
  expect((await here.type(again, other)).json()).toMatchObject({ counts: { duplicate: 1 } })
  expect(here.listOrderedEmails()).toEqual(createEmails(1))
})

test('two stores that choose the same results file name at the same time write two files', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(1))
  let hasColleagueRun = false
  here.intercept(async (request, ask) => {
    if (request.method === 'POST' && !hasColleagueRun) {
      hasColleagueRun = true
      await here.type(`${run} --ignore-results`, {
        exported: { ...colleague(here).exported, REFCHECK_ACCOUNT: 'acme' },
      })
    }
    return ask(request)
  })
  await here.type(run)
  const written = ['people.results.csv', 'people.results-2.csv'].map((name) =>
    readFileSync(join(here.folder, name), 'utf8').includes('acme'),
  )
  expect(written).toEqual([false, true])
})
