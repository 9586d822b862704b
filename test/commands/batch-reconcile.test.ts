import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { orderOf } from '../harness/people.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { type World, world } from '../harness/world.ts'

const running = ['--package', '102', '--yes', '--json']

/** Events of every request there is, as a receiver would have captured them. */
function captured({ sandbox, folder }: World): string {
  const lines = sandbox
    .requests()
    .map(({ request_id }) => JSON.stringify({ event: 'request.updated', request_id, status: 'IN_PROGRESS' }))
  writeFileSync(join(folder, 'events.ndjson'), `${lines.join('\n')}\n`)
  return 'events.ndjson'
}

/** A batch of two whose second row may have been ordered. */
async function withUnknown(place: World, tag = '+cut-after'): Promise<string> {
  const file = peopleFile(place.folder, ['a1@example.com', `a2${tag}@example.com`])
  const outcome = await place.run(['batch', 'run', file, ...running])
  expect(outcome.code).toBe(8)
  return (outcome.json() as { batch_id: string }).batch_id
}

const minutes = (count: number): ManualClock =>
  new ManualClock({ now: Date.now() + count * 60_000, auto: true })

describe('proof', () => {
  test('an event names a request that fits the row alone: it was ordered', async () => {
    const place = await world()
    const batchId = await withUnknown(place)
    const outcome = await place.run(['batch', 'reconcile', batchId, '--events', captured(place), '--json'])
    expect(outcome.code).toBe(0)
    const request = place.sandbox.requests().find(({ recipient }) => recipient.email.startsWith('a2'))
    expect(outcome.json()).toMatchObject({
      settled: [{ batch_id: batchId, row: 2, request_id: request?.request_id }],
      ambiguous: [],
      open: [],
      reads: 1,
    })
    const status = (await place.run(['batch', 'status', batchId, '--json'])).json()
    expect(status).toMatchObject({ counts: { accepted: 2, unknown: 0 } })
    const results = readFileSync(join(place.folder, 'people.results.csv'), 'utf8')
    expect(results).toContain(`,accepted,${request?.request_id},`)
    expect(results).not.toContain(',unknown,')
  })

  test('nothing was created: silence proves nothing, exit 8', async () => {
    const place = await world()
    const batchId = await withUnknown(place, '+cut-before')
    const outcome = await place.run(['batch', 'reconcile', batchId, '--events', captured(place), '--json'])
    expect(outcome.code).toBe(8)
    expect(outcome.json()).toMatchObject({
      settled: [],
      open: [{ row: 2, email: 'a2+cut-before@example.com' }],
      error: { code: 'outcome_unknown' },
    })
  })

  test('two requests that fit are shown and left to a person', async () => {
    const place = await world()
    const batchId = await withUnknown(place)
    const elsewhere = { REFCHECK_STORE: ':memory:' }
    const twin = orderOf('Ana').map((each) =>
      each === 'Example' ? 'Row2' : each === 'ana@example.com' ? 'a2+cut-after@example.com' : each,
    )
    await place.run(
      twin.map((each) => (each === '+61412345678' ? '+61400000002' : each)),
      { env: elsewhere },
    )
    expect(place.sandbox.requests()).toHaveLength(3)
    const outcome = await place.run(['batch', 'reconcile', batchId, '--events', captured(place), '--json'])
    expect(outcome.code).toBe(8)
    expect(outcome.json()).toMatchObject({ settled: [], ambiguous: [{ row: 2 }] })
  })

  test('a single order is a batch of one', async () => {
    const place = await world()
    const argv = orderOf('Ana', ['--yes', '--json']).map((each) =>
      each === 'ana@example.com' ? 'ana+500-after@example.com' : each,
    )
    expect((await place.run(argv)).code).toBe(8)
    const outcome = await place.run(['batch', 'reconcile', '--events', captured(place), '--json'])
    expect([outcome.code, outcome.json()]).toMatchObject([0, { settled: [{ row: 1 }] }])
  })

  test('a file that holds no events is refused with its line', async () => {
    const place = await world()
    await withUnknown(place)
    writeFileSync(join(place.folder, 'wrong.ndjson'), '{"event":"request.updated"}\n')
    const outcome = await place.run(['batch', 'reconcile', '--events', 'wrong.ndjson'])
    expect([outcome.code, outcome.stderr.split('\n')[0]]).toEqual([
      2,
      'Error: wrong.ndjson: line 1 is no event with a request_id',
    ])
  })
})

describe('a person decides', () => {
  test('not within 15 minutes of the attempt', async () => {
    const place = await world()
    const batchId = await withUnknown(place, '+cut-before')
    const again = [
      'batch',
      'reconcile',
      batchId,
      '--row',
      '2',
      '--confirm-email',
      'a2+cut-before@example.com',
    ]
    const outcome = await place.run(again)
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('less than 15 minutes ago')
    expect(place.sandbox.requests()).toHaveLength(1)
  })

  test('with the recipient’s e-mail typed out the row is sent again, once', async () => {
    const place = await world()
    const batchId = await withUnknown(place, '+500-before')
    const again = ['batch', 'reconcile', batchId, '--row', '2', '--json', '--confirm-email']
    const wrong = await place.run([...again, 'a1@example.com'], { clock: minutes(16) })
    expect([wrong.code, wrong.json()]).toMatchObject([2, { error: { code: 'invalid_input' } }])
    const outcome = await place.run([...again, 'A2+500-before@example.com'], { clock: minutes(17) })
    // The tag makes this one fail as well, so it is unknown anew: sent once more, and no more than that.
    expect([outcome.code, outcome.json()]).toMatchObject([8, { counts: { accepted: 1, unknown: 1 } }])
    const posts = place.sandbox.log.entries().filter((entry) => 'method' in entry && entry.method === 'POST')
    expect(posts).toHaveLength(3)
  })

  test('who decided, when and why is kept, and a dropped row is never sent', async () => {
    const place = await world()
    const batchId = await withUnknown(place, '+cut-before')
    const argv = [
      'batch',
      'reconcile',
      batchId,
      '--row',
      '2',
      '--drop',
      '--confirm-email',
      'a2+cut-before@example.com',
    ]
    const outcome = await place.run([...argv, '--reason', 'they have no such request', '--json'], {
      clock: minutes(16),
    })
    expect([outcome.code, outcome.json()]).toMatchObject([0, { counts: { cancelled: 1, unknown: 0 } }])
    expect(place.sandbox.requests()).toHaveLength(1)
  })

  test('on a terminal it is asked for after a plain warning', async () => {
    const place = await world()
    const batchId = await withUnknown(place, '+cut-before')
    const prompter = new ScriptedPrompter([
      { ask: /Type the e-mail of row 2’s recipient/, type: 'somebody@else.example' },
    ])
    const outcome = await place.run(['batch', 'reconcile', batchId, '--row', '2'], {
      prompter,
      clock: minutes(16),
    })
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('may have been ordered already')
  })

  test('a single order is sent again at once', async () => {
    const place = await world()
    place.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'before' } })
    expect((await place.run(orderOf('Ana', ['--yes', '--json']))).code).toBe(8)
    const [listed] = JSON.parse((await place.run(['request', 'list', '--json'])).stdout) as {
      batch_id: string
    }[]
    const argv = [
      'batch',
      'reconcile',
      listed?.batch_id ?? '',
      '--row',
      '1',
      '--confirm-email',
      'ana@example.com',
    ]
    const outcome = await place.run([...argv, '--json'], { clock: minutes(16) })
    expect([outcome.code, outcome.json()]).toMatchObject([0, { counts: { accepted: 1 } }])
    expect(place.sandbox.requests()).toHaveLength(1)
  })

  test('about a row that is settled there is nothing to decide', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(1))
    const { batch_id } = (await place.run(['batch', 'run', file, ...running])).json() as { batch_id: string }
    for (const [row, words] of [
      ['1', 'row 1 is accepted'],
      ['9', 'has no row 9'],
    ] as const) {
      const outcome = await place.run([
        'batch',
        'reconcile',
        batch_id,
        '--row',
        row,
        '--confirm-email',
        'a1@example.com',
      ])
      expect([outcome.code, outcome.stderr]).toMatchObject([2, expect.stringContaining(words)])
    }
  })
})
