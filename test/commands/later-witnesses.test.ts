import { join } from 'node:path'

import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

/** Ordering protocol, "Other witnesses": a row is held against what the row beside says now. */
const run = 'batch run people.csv --package 102 --yes'

/** A batch of three of which nothing went out yet, its results elsewhere, and a colleague with a store of his own. */
async function takenIn() {
  const here = await session()
  peopleFile(here.folder, emails(3))
  here.sandbox.setCredits(0)
  const { batch_id } = (await here.type(`${run} --results mine.csv --json`)).json() as { batch_id: string }
  here.sandbox.setCredits(null)
  return { here, batch_id, other: colleague(here) }
}

const colleague = ({ folder }: Session) => ({
  env: {
    REFCHECK_DATA_DIR: join(folder, 'other', 'data'),
    REFCHECK_CONFIG_DIR: join(folder, 'other', 'config'),
  },
})

const statesOf = async ({ type }: Session, batchId: string): Promise<string[]> =>
  ((await type(`batch rows ${batchId} --json`)).json() as { state: string }[]).map(({ state }) => state)

test.each([['run'], ['resume']])(
  'results that a colleague wrote beside the input since it was taken in are heard when %s goes on',
  async (verb) => {
    const { here, batch_id, other } = await takenIn()
    expect((await here.type(`${run} --max 2`, other)).code).toBe(10)
    expect(here.ordered()).toEqual(emails(2))
    const again = await here.type(verb === 'run' ? run : `batch resume ${batch_id} --yes`)
    expect([again.code, here.ordered()]).toEqual([10, emails(2)])
    expect(await statesOf(here, batch_id)).toEqual(['duplicate', 'duplicate', 'held'])
    expect(again.stderr).toContain(`refcheck batch rows ${batch_id} --state held`)
  },
)

test('a row that was released goes no more once the results say that it was ordered', async () => {
  const { here, batch_id, other } = await takenIn()
  await here.type(`${run} --max 2`, other)
  await here.type(run)
  expect((await here.type(`batch release ${batch_id} --row 3`)).code).toBe(0)
  expect((await here.type(run, other)).code).toBe(0)
  expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(2)
  expect([here.ordered(), await statesOf(here, batch_id)]).toEqual([
    emails(3),
    ['duplicate', 'duplicate', 'duplicate'],
  ])
})

test('a release of what the results say still holds when they are read again', async () => {
  const { here, batch_id, other } = await takenIn()
  await here.type(`${run} --max 2`, other)
  await here.type(run)
  await here.type(`batch release ${batch_id} --row 3`)
  await here.type(`batch resume ${batch_id} --yes`)
  expect(here.ordered()).toEqual(emails(3))
})

test('--ignore-results is remembered by a resume', async () => {
  const { here, batch_id, other } = await takenIn()
  await here.type(`${run} --max 1`, other)
  expect((await here.type(`${run} --ignore-results --max 1`)).code).toBe(10)
  expect((await here.type(`batch resume ${batch_id} --yes`)).code).toBe(0)
  expect(here.ordered()).toEqual(['a1@example.com', ...emails(3)])
})
