import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { batchRun, ordered } from '../harness/batch-session.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { type World, world } from '../harness/world.ts'

interface Standing {
  batch_id: string
  counts: Record<string, number>
  error?: { code: string; message: string; hint: string }
}

describe('what goes wrong on the way', () => {
  test.each([
    ['+500-after', 1],
    ['+500-before', 0],
    ['+cut-after', 1],
    ['+cut-before', 0],
    ['+502-html', 1],
    ['+no-id', 1],
  ])('%s: that row is unknown, the others go on, nobody is sent twice', async (tag, created) => {
    const place = await world()
    const file = peopleFile(place.folder, ['a1@example.com', `a2${tag}@example.com`, 'a3@example.com'])
    const outcome = await place.run(batchRun(file))
    expect(outcome.code).toBe(8)
    const { batch_id, counts, error } = outcome.json() as Standing
    expect(counts).toMatchObject({ accepted: 2, unknown: 1 })
    expect(error?.hint).toBe(`Settle it with: refcheck batch reconcile ${batch_id}`)
    expect(ordered(place)).toHaveLength(2 + created)
    expect((await place.run(batchRun(file))).code).toBe(8)
    expect(ordered(place)).toHaveLength(2 + created)
  })

  test('throttled: the row waits as long as it is told, and goes', async () => {
    const clock = new ManualClock({ auto: true })
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    place.sandbox.inject({
      on: 'POST *',
      fault: { kind: 'status', status: 429, when: 'before', retryAfter: '7' },
    })
    const outcome = await place.run(batchRun(file), { clock })
    expect(outcome.code).toBe(0)
    expect(clock.sleeps).toContain(7000)
    expect(ordered(place)).toEqual(emails(2))
  })

  test.each([
    ['no credits', (place: World) => place.sandbox.setCredits(2), 4, 'forbidden', /credits/],
    ['the trial is over', (place: World) => place.sandbox.expireTrial(), 4, 'forbidden', /trial/],
    ['a new key', (place: World) => place.sandbox.revokeKey(), 3, 'unauthenticated', /key/],
  ] as const)(
    '%s: it halts, the rows are kept, and it goes on once that is mended',
    async (_what, breakIt, code, word, told) => {
      const place = await world()
      const file = peopleFile(place.folder, emails(4))
      expect((await place.run(batchRun(file, ['--max', '1']))).code).toBe(10)
      breakIt(place)
      const halted = await place.run(batchRun(file))
      expect(halted.code).toBe(code)
      const { batch_id, counts, error } = JSON.parse(halted.stdout) as Standing
      expect(error?.code).toBe(word)
      expect(`${error?.message}`).toMatch(told)
      expect(error?.hint).toContain(`Then go on with: refcheck batch resume ${batch_id}`)
      expect(counts?.['pending']).toBeGreaterThan(0)
      expect((await place.run(['batch', 'status', batch_id])).stdout).toContain('halted')
    },
  )

  test('credits come back: resume finishes it', async () => {
    const place = await world()
    place.sandbox.setCredits(2)
    const file = peopleFile(place.folder, emails(4))
    const halted = await place.run(batchRun(file))
    const { batch_id, counts } = halted.json() as Standing
    expect([halted.code, counts['accepted'], counts['pending']]).toEqual([4, 2, 2])
    place.sandbox.setCredits(null)
    expect((await place.run(['batch', 'resume', batch_id, '--yes'])).code).toBe(0)
    expect(ordered(place)).toEqual(emails(4))
  })

  test('the package is replaced: it halts and names the successor and what the file lacks', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(3))
    await place.run(batchRun(file, ['--max', '1']))
    const successor = place.sandbox.replacePackage(102)
    const halted = await place.run(batchRun(file))
    expect(halted.code).toBe(5)
    const { error, counts } = halted.json() as Standing
    expect(error?.message).toMatch(/^halted: package 102 \("Identity check only"\) is INACTIVE/)
    expect(error?.hint).toContain(`Its likely successor is package ${successor} (same name, newer id).`)
    expect(error?.hint).toContain('new and required')
    expect(counts).toMatchObject({ accepted: 1, pending: 1, rejected: 1 })
  })

  test('a package that is not ACTIVE from the start costs no row', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const successor = place.sandbox.replacePackage(102)
    const outcome = await place.run(batchRun(file))
    expect([outcome.code, outcome.json()]).toMatchObject([
      5,
      { batch_id: null, counts: { pending: 2 }, error: { code: 'not_found' } },
    ])
    expect(outcome.stdout).toContain(`Its likely successor is package ${successor}`)
    expect((await place.run(['batch', 'list', '--json'])).json()).toEqual([])
  })

  test('the package is gone and nobody can say why: it halts all the same, with its standing', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(3))
    await place.run(batchRun(file, ['--max', '1']))
    place.sandbox.replacePackage(102)
    place.sandbox.inject({ on: 'GET *', times: 40, fault: { kind: 'status', status: 503, when: 'before' } })
    const halted = await place.run(batchRun(file), { clock: new ManualClock({ auto: true }) })
    expect([halted.code, halted.json()]).toMatchObject([
      7,
      { counts: { accepted: 1, rejected: 1, pending: 1 } },
    ])
  })

  test('an outage costs one row: nothing goes out until the service answers well', async () => {
    const place = await world()
    const file = peopleFile(place.folder, ['a1@example.com', 'a2+cut-before@example.com', 'a3@example.com'])
    await place.run(['schema', 'show', '102'])
    const takeBack = place.sandbox.inject({
      on: 'GET *',
      times: 40,
      fault: { kind: 'status', status: 503, when: 'before' },
    })
    const clock = new ManualClock({ auto: true })
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms, signal) => {
      if (ms >= 5000) takeBack()
      await sleep(ms, signal)
    }
    const outcome = await place.run(batchRun(file), { clock })
    expect((outcome.json() as Standing).counts).toMatchObject({ accepted: 2, unknown: 1 })
    expect(outcome.stderr).toContain('nothing is sent until it answers well')
    expect(outcome.stderr).toContain('The service answers well; going on.')
  })

  test('run again while the outage lasts costs no second row', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(3))
    await place.run(['schema', 'show', '102'])
    const takeBack = place.sandbox.inject({
      on: '*',
      times: 1000,
      fault: { kind: 'status', status: 503, when: 'before' },
    })
    for (const _ of [1, 2, 3]) {
      const outcome = await place.run(batchRun(file, ['--timeout', '1s']))
      expect([outcome.code, (outcome.json() as Standing).counts]).toMatchObject([
        8,
        { unknown: 1, pending: 2 },
      ])
    }
    takeBack()
    expect((await place.run(batchRun(file))).json()).toMatchObject({ counts: { accepted: 2, unknown: 1 } })
  })

  test('three unknowns in a row halt it though the service pings well', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(6, '+cut-after'))
    const outcome = await place.run(batchRun(file))
    expect(outcome.code).toBe(8)
    const { counts, error } = outcome.json() as Standing
    expect(counts).toMatchObject({ unknown: 3, pending: 3 })
    expect(error?.message).toContain('3 rows in a row may or may not have been ordered')
    expect(ordered(place)).toHaveLength(3)
  })
})
