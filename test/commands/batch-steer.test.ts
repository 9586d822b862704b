import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { running } from '../harness/batch-session.ts'
import { type World, world } from '../harness/world.ts'

interface Standing {
  batch_id: string
  counts: Record<string, number>
}

/** A batch of four of which two were sent. */
async function halfSent(place: World): Promise<string> {
  const file = peopleFile(place.folder, emails(4))
  return ((await place.run(['batch', 'run', file, ...running, '--max', '2'])).json() as Standing).batch_id
}

const ordered = ({ sandbox }: World): number => sandbox.requests().length

describe('where it stands', () => {
  test('list, status and rows, by the beginning of the id', async () => {
    const place = await world()
    const id = await halfSent(place)
    expect((await place.run(['batch', 'list', '--json'])).json()).toMatchObject([
      { batch_id: id, name: 'people.csv', total: 4, accepted: 2, pending: 2, state: 'stopped' },
    ])
    expect((await place.run(['batch', 'status', id.slice(0, 8), '--json'])).json()).toMatchObject({
      batch_id: id,
      package_id: 102,
      counts: { total: 4, accepted: 2, pending: 2 },
      results_file: join(place.folder, 'people.results.csv'),
    })
    const rows = (await place.run(['batch', 'rows', id, '--state', 'pending', '--json'])).json()
    expect(rows).toEqual([
      { row: 3, state: 'pending', request_id: null, attempts: 0, email: 'a3@example.com', error: null },
      { row: 4, state: 'pending', request_id: null, attempts: 0, email: 'a4@example.com', error: null },
    ])
  })

  test('a batch that is not there, an id that is none, a state that is none', async () => {
    const { run } = await world()
    expect((await run(['batch', 'status', 'aaaa1111'])).code).toBe(5)
    expect((await run(['batch', 'status', 'people.csv'])).code).toBe(2)
    expect((await run(['batch', 'rows', 'aaaa1111', '--state', 'sent'])).code).toBe(2)
  })
})

test('cancel drops what was not sent, for good', async () => {
  const place = await world()
  const id = await halfSent(place)
  expect((await place.run(['batch', 'cancel', id])).code).toBe(2)
  const outcome = await place.run(['batch', 'cancel', id, '--yes', '--json'])
  expect([outcome.code, outcome.json()]).toMatchObject([
    0,
    { counts: { accepted: 2, cancelled: 2, pending: 0 } },
  ])
  const resumed = await place.run(['batch', 'resume', id, '--yes', '--json'])
  expect([resumed.code, resumed.json()]).toMatchObject([10, { error: { code: 'incomplete' } }])
  expect(ordered(place)).toBe(2)
})

test('what was dropped before anything was sent is told so, and can be had as a file', async () => {
  const place = await world()
  place.sandbox.setCredits(0)
  const file = peopleFile(place.folder, emails(2))
  const id = ((await place.run(['batch', 'run', file, ...running])).json() as Standing).batch_id
  await place.run(['batch', 'cancel', id, '--yes'])
  place.sandbox.setCredits(null)
  const again = await place.run(['batch', 'run', file, ...running])
  expect([again.code, again.json()]).toMatchObject([
    2,
    { error: { code: 'invalid_input', message: 'nothing was sent: 2 of 2 rows were dropped' } },
  ])
  await place.run(['batch', 'export', id, '--state', 'cancelled', '--output', 'again.csv'])
  expect((await place.run(['batch', 'run', 'again.csv', '--yes'])).code).toBe(0)
  expect(ordered(place)).toBe(2)
})

test('retry queues rejected rows, and resume sends them', async () => {
  const place = await world()
  const refusal = {
    kind: 'status',
    status: 400,
    when: 'before',
    message: 'recipient.email: is not accepted today',
  } as const
  place.sandbox.inject({ on: 'POST *', fault: refusal })
  const file = peopleFile(place.folder, emails(2))
  const first = await place.run(['batch', 'run', file, ...running])
  const { batch_id: id, counts } = first.json() as Standing
  expect([first.code, counts]).toMatchObject([10, { accepted: 1, rejected: 1 }])
  expect((await place.run(['batch', 'retry', id, '--json'])).json()).toMatchObject({
    counts: { pending: 1, rejected: 0 },
  })
  expect((await place.run(['batch', 'resume', id, '--yes', '--json'])).json()).toMatchObject({
    counts: { accepted: 2 },
  })
  expect(ordered(place)).toBe(2)
})

test('retry of a row that was not rejected is refused, above all of one that may have been ordered', async () => {
  const place = await world()
  const file = peopleFile(place.folder, ['a1@example.com', 'a2+cut-after@example.com'])
  const { batch_id: id } = (await place.run(['batch', 'run', file, ...running])).json() as Standing
  const told = async (row: string): Promise<unknown> =>
    ((await place.run(['batch', 'retry', id, '--row', row, '--json'])).json() as { error: unknown }).error
  expect(await told('1')).toMatchObject({
    code: 'usage',
    message: 'row 1 is accepted, and only rejected rows are queued again',
  })
  expect(await told('2')).toMatchObject({
    message: 'row 2 is unknown, and only rejected rows are queued again',
    hint: `It may have been ordered, so settle it first: refcheck batch reconcile ${id}`,
  })
  expect(await told('3')).toMatchObject({ message: `batch ${id} has no row 3` })
})

describe('export', () => {
  test('--json without a file is the rows as JSON, and csv with it needs a file', async () => {
    const place = await world()
    const id = await halfSent(place)
    const rows = (await place.run(['batch', 'export', id, '--json'])).json()
    expect(rows).toMatchObject([{ email: 'a1@example.com', refcheck_state: 'accepted' }, {}, {}, {}])
    const { code, stdout } = await place.run(['batch', 'export', id, '--json', '--format', 'csv'])
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: 'usage' } }])
  })

  test('what is left can be run as a file, and orders just that', async () => {
    const place = await world()
    const id = await halfSent(place)
    const argv = ['batch', 'export', id, '--state', 'pending', '--output', 'rest.csv', '--json']
    expect((await place.run(argv)).json()).toEqual({
      batch_id: id,
      path: join(place.folder, 'rest.csv'),
      format: 'csv',
      rows: 2,
    })
    await place.run(['batch', 'cancel', id, '--yes'])
    expect((await place.run(['batch', 'run', 'rest.csv', '--yes'])).code).toBe(0)
    expect(place.sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(emails(4))
  })

  test('as a page it is harmless, whatever people are called', async () => {
    const place = await world()
    const name = '<script>alert(1)</script>'
    writeFileSync(
      join(place.folder, 'odd.csv'),
      `first_name,last_name,email,phone\n${name},Row,odd@example.com,+61400000001\n`,
    )
    const { batch_id: id } = (await place.run(['batch', 'run', 'odd.csv', ...running])).json() as Standing
    await place.run(['batch', 'export', id, '--output', 'odd.html'])
    const page = readFileSync(join(place.folder, 'odd.html'), 'utf8')
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toContain(name)
  })

  test('JSON to stdout, nothing over a file that is there, no workbook to a terminal', async () => {
    const place = await world()
    const id = await halfSent(place)
    const { stdout } = await place.run(['batch', 'export', id, '--format', 'json'])
    expect(JSON.parse(stdout)).toMatchObject([{ first_name: 'Ana', refcheck_state: 'accepted' }, {}, {}, {}])
    writeFileSync(join(place.folder, 'mine.csv'), 'mine')
    expect((await place.run(['batch', 'export', id, '--output', 'mine.csv'])).code).toBe(2)
    expect(
      (await place.run(['batch', 'export', id, '--format', 'xlsx'], { tty: { stdout: true } })).code,
    ).toBe(2)
  })
})

describe('a plan', () => {
  test('is kept and run as it was looked at', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const planned = await place.run([
      'batch',
      'plan',
      file,
      '--package',
      '102',
      '--output',
      'plan.json',
      '--json',
    ])
    expect([planned.code, planned.json()]).toMatchObject([
      0,
      { counts: { pending: 2 }, package_id: 102, seconds: 0 },
    ])
    expect(ordered(place)).toBe(0)
    expect((await place.run(['batch', 'run', '--plan', 'plan.json', '--yes'])).code).toBe(0)
    expect(ordered(place)).toBe(2)
  })

  test('is not kept unasked: a terminal is told how, a pipe gets all of it', async () => {
    const place = await world()
    const argv = ['batch', 'plan', peopleFile(place.folder, emails(1)), '--package', '102']
    const shown = await place.run(argv, { tty: { stdout: true } })
    expect(shown.stdout).toBe('Keep this plan with: --output plan.json\n')
    expect((await place.run(argv)).json()).toMatchObject({ refcheck_plan: 1, counts: { pending: 1 } })
  })

  test.each([
    ['--package', '101'],
    ['--map', 'x=email'],
    ['--ignore', 'email'],
    ['--default-country', 'AU'],
  ])('is run as it was read, so %s beside it is refused', async (flag, value) => {
    const place = await world()
    const file = peopleFile(place.folder, emails(1))
    await place.run(['batch', 'plan', file, '--package', '102', '--output', 'plan.json'])
    const outcome = await place.run(['batch', 'run', '--plan', 'plan.json', '--yes', '--json', flag, value])
    expect([outcome.code, outcome.json()]).toMatchObject([2, { error: { code: 'usage' } }])
    expect(ordered(place)).toBe(0)
  })

  test('of a file that was changed since is refused, and so is what is no plan', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    await place.run(['batch', 'plan', file, '--package', '102', '--output', 'plan.json'])
    peopleFile(place.folder, emails(3))
    const outcome = await place.run(['batch', 'run', '--plan', 'plan.json', '--yes'])
    expect([outcome.code, outcome.stderr]).toMatchObject([
      2,
      expect.stringContaining('was changed since it was planned'),
    ])
    expect((await place.run(['batch', 'run', '--plan', file, '--yes'])).code).toBe(2)
    expect(ordered(place)).toBe(0)
  })

  test('5,000 rows take five hours', async () => {
    const place = await world()
    const { stderr } = await place.run([
      'batch',
      'plan',
      peopleFile(place.folder, emails(5000)),
      '--package',
      '102',
    ])
    expect(stderr).toContain('Time by quota: about 5 h, until ')
  })
})
