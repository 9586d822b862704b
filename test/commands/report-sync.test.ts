import { existsSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { ordered, pdfsIn } from '../harness/ordered.ts'

test('all that is completed, from the store; --since leaves out what is older', async () => {
  const { type, calls, reports, clock } = await ordered(['Ana', 'Ben+stuck', 'Cleo+declined'])
  calls()
  expect(await type('report download --all-completed --output reports')).toMatchObject({ code: 0 })
  expect(calls()).toBe(3)
  expect(pdfsIn(reports)).toEqual([expect.stringMatching(/^Example-Ana_Identity-check_/)])
  // Now it is known what ended how; only what is open is read.
  await type('report download --all-completed --output reports')
  expect(calls()).toBe(1)
  await clock.advance(60_000)
  const { stdout } = await type('report download --all-completed --since 30m --output other')
  expect({ stdout, there: existsSync(join(dirname(reports), 'other')) }).toEqual({ stdout: '', there: false })
})

test('a batch that this store does not know: exit 5; one that it knows: its reports', async () => {
  const { type, reports } = await ordered(['Ana'])
  const unknown = await type('report download --batch 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55')
  expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 5, stdout: '' })
  const [order] = (await type('request list --json')).json() as { batch_id: string }[]
  expect((await type(`report download --batch ${order?.batch_id} --output reports`)).code).toBe(0)
  expect(pdfsIn(reports)).toHaveLength(1)
})

test('sync costs a call for each request that is open, and none for the rest', async () => {
  const { type, calls, reports, clock } = await ordered(['Ana', 'Ben', 'Cleo+declined', 'Dan+error'], {
    minutes: 1,
  })
  calls()
  const early = await type('report sync --output reports')
  expect(early).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '0 stored, 0 there already, 4 requests not finished\n',
  })
  expect(calls()).toBe(4)
  await clock.advance(3_600_000)
  const late = await type('report sync --output reports')
  expect(late).toMatchObject({ code: 0, stderr: '2 stored, 0 there already, 0 requests not finished\n' })
  expect(late.stdout.match(/^stored /gm)).toHaveLength(2)
  expect(calls()).toBe(4)
  const quiet = await type('report sync --output reports --quiet')
  expect(quiet).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(calls()).toBe(0)
  unlinkSync(join(reports, pdfsIn(reports)[0] ?? ''))
  const mended = await type('report sync --output reports --json')
  expect(mended.json()).toMatchObject({
    folder: reports,
    stored: [{ skipped: false }],
    missing: [],
    skipped: 1,
  })
  expect(calls()).toBe(1)
})

test('a report that comes later keeps its request open, and is no failure', async () => {
  const { type, calls, clock } = await ordered(['Ana+report-later'])
  calls()
  const early = await type('report sync --output reports')
  expect(early).toMatchObject({ code: 0, stderr: '0 stored, 0 there already, 1 request not finished\n' })
  await clock.advance(3_600_000)
  expect((await type('report sync --output reports')).stdout).toMatch(/^stored /)
  calls()
  await type('report sync --output reports')
  expect(calls()).toBe(0)
})

test('sync says what is ready and could not be had: exit 10', async () => {
  const { type } = await ordered(['Ana+report-html', 'Ben'])
  const { code, stdout } = await type('report sync --output reports')
  expect(code).toBe(10)
  expect(stdout).toMatch(/^stored .+\nabsent {2}Ana Example: the answer is not a PDF but text\/html\n$/)
})

test('sync needs a folder', async () => {
  const { type } = await ordered([])
  expect((await type('report sync')).code).toBe(2)
  expect((await type('report sync --output -')).code).toBe(2)
})
