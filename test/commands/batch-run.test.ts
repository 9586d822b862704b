import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { batchRun, ordered } from '../harness/batch-session.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { type World, world } from '../harness/world.ts'

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

interface Standing {
  batch_id: string
  package_id: number
  counts: Record<string, number>
  results_file: string
  error?: { code: string; message: string; hint: string }
}

async function rowsOf({ run }: World, batchId: string): Promise<string[]> {
  const { stdout } = await run(['batch', 'rows', batchId, '--json'])
  const rows = JSON.parse(stdout) as { row: number; state: string; error: string | null }[]
  return rows.map(
    ({ row, state, error }) => `${row} ${state}${error === null ? '' : `: ${error.replace(uuid, 'ID')}`}`,
  )
}

describe('a file of people', () => {
  test('is ordered row by row, and the results stand beside it', async () => {
    const place = await world()
    const outcome = await place.run(batchRun(peopleFile(place.folder, emails(3))))
    expect(outcome.code).toBe(0)
    const standing = outcome.json() as Standing
    expect(standing).toEqual({
      batch_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      package_id: 102,
      counts: {
        total: 3,
        pending: 0,
        sending: 0,
        accepted: 3,
        rejected: 0,
        unknown: 0,
        invalid: 0,
        duplicate: 0,
        cancelled: 0,
      },
      results_file: join(place.folder, 'people.results.csv'),
    })
    expect(ordered(place)).toEqual(emails(3))
    const [first] = place.sandbox.requests()
    const [head, row] = readFileSync(standing.results_file, 'utf8').split('\n')
    expect(head).toBe(
      'first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error',
    )
    expect(row).toBe(`Ana,Row1,a1@example.com,+61400000001,accepted,${first?.request_id},RECEIVED,`)
  })

  test('run again, under another name too, orders nobody', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const first = (await place.run(batchRun(file))).json() as Standing
    renameSync(join(place.folder, file), join(place.folder, 'again.csv'))
    const again = await place.run(batchRun('again.csv'))
    expect([again.code, (again.json() as Standing).batch_id]).toEqual([0, first.batch_id])
    expect(ordered(place)).toEqual(emails(2))
  })

  test('taken in by another process while the plan is looked at is that batch, and goes on there', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const prompter = new ScriptedPrompter([{ ask: /Order checks for 2 people/, confirm: true }])
    const ask = prompter.confirm.bind(prompter)
    let first: Standing | undefined
    prompter.confirm = async (question) => {
      first = (await place.run(batchRun(file))).json() as Standing
      return ask(question)
    }
    const outcome = await place.run(['batch', 'run', file, '--package', '102', '--json'], { prompter })
    expect([outcome.code, (outcome.json() as Standing).batch_id]).toEqual([0, first?.batch_id])
    expect(ordered(place)).toEqual(emails(2))
  })

  test('with one person more orders that one: the others are told as duplicates', async () => {
    const place = await world()
    await place.run(batchRun(peopleFile(place.folder, emails(2))))
    const outcome = await place.run(batchRun(peopleFile(place.folder, emails(3), 'more.csv')))
    expect(outcome.code).toBe(10)
    const { counts, batch_id, error } = outcome.json() as Standing
    expect(counts).toMatchObject({ total: 3, accepted: 1, duplicate: 2 })
    expect(error).toMatchObject({ code: 'incomplete', message: '1 of 3 rows were accepted (2 duplicate)' })
    expect(await rowsOf(place, batch_id)).toMatchObject([
      '1 duplicate: orders the same as request ID (row 1 of batch ID)',
      '2 duplicate: orders the same as request ID (row 2 of batch ID)',
      '3 accepted',
    ])
    expect(ordered(place)).toEqual(emails(3))
  })

  test('of people who were all ordered before: nothing is sent, exit 2', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    await place.run(batchRun(file))
    writeFileSync(join(place.folder, 'same.csv'), `${readFileSync(join(place.folder, file), 'utf8')}\n`)
    const outcome = await place.run(batchRun('same.csv'))
    expect(outcome.code).toBe(2)
    expect(outcome.json()).toMatchObject({
      batch_id: null,
      error: { code: 'duplicate', message: 'nothing was sent: every row was ordered before' },
    })
    expect(ordered(place)).toHaveLength(2)
  })

  test('a person ordered by "request create" is not ordered again by a file', async () => {
    const place = await world()
    const person = [
      '--first-name',
      'Ana',
      '--last-name',
      'Row1',
      '--email',
      'A1@Example.com',
      '--phone',
      '+61 400 000 001',
    ]
    expect((await place.run(['request', 'create', '--package', '102', ...person, '--yes'])).code).toBe(0)
    const outcome = await place.run(batchRun(peopleFile(place.folder, emails(2))))
    expect((outcome.json() as Standing).counts).toMatchObject({ accepted: 1, duplicate: 1 })
    expect(place.sandbox.requests()).toHaveLength(2)
  })

  test('a row that is not fit stops all of it; --on-invalid skip leaves it out', async () => {
    const place = await world()
    const file = peopleFile(place.folder, ['a1@example.com', 'not an address', 'a3@example.com'])
    const stopped = await place.run(batchRun(file))
    expect(stopped.code).toBe(2)
    expect(stopped.json()).toMatchObject({
      batch_id: null,
      counts: { pending: 2, invalid: 1 },
      error: { code: 'invalid_input', field: 'email' },
    })
    expect(ordered(place)).toEqual([])
    const skipped = await place.run(batchRun(file, ['--on-invalid', 'skip']))
    expect(skipped.code).toBe(10)
    const { batch_id } = skipped.json() as Standing
    expect(await rowsOf(place, batch_id)).toEqual([
      '1 accepted',
      expect.stringMatching(/^2 invalid: email .*e-mail/) as string,
      '3 accepted',
    ])
  })

  test('--max stops after so many, and the same command goes on', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(5))
    const first = await place.run(batchRun(file, ['--max', '2']))
    expect([first.code, (first.json() as Standing).counts]).toMatchObject([10, { accepted: 2, pending: 3 }])
    expect(ordered(place)).toEqual(emails(2))
    expect((await place.run(batchRun(file))).code).toBe(0)
    expect(ordered(place)).toEqual(emails(5))
  })

  test('--dry-run shows the plan and sends nothing', async () => {
    const place = await world()
    const file = peopleFile(place.folder, [...emails(2), 'a1@example.com'])
    writeFileSync(
      join(place.folder, file),
      readFileSync(join(place.folder, file), 'utf8').replace(
        'Ana,Row3,a1@example.com,+61400000003',
        'ana,row1,A1@EXAMPLE.com,+61 400-000-001',
      ),
    )
    const { code, stdout } = await place.run(['batch', 'run', file, '--package', '102', '--dry-run'])
    expect(code).toBe(0)
    expect(stdout).toBe(
      [
        'people.csv: 3 rows',
        '  2 orders of package 102',
        '  1 row the same as an earlier row, not sent',
        'Time by quota: under a minute',
        '',
        'Values that are sent otherwise than they stand:',
        '  row 3, phone: "+61 400-000-001" is sent as "+61400000001"',
        '',
      ].join('\n'),
    )
    expect((await place.run(['batch', 'list', '--json'])).json()).toEqual([])
  })

  test('on a terminal a no sends nothing', async () => {
    const place = await world()
    const prompter = new ScriptedPrompter([{ ask: /Order checks for 2 people/, confirm: false }])
    const { code } = await place.run(
      ['batch', 'run', peopleFile(place.folder, emails(2)), '--package', '102'],
      { prompter },
    )
    expect(code).toBe(130)
    expect(ordered(place)).toEqual([])
  })

  test('--quiet with --yes leaves the answer alone', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    expect((await place.run(batchRun(file, ['--max', '1']))).stderr).toContain('2 orders of package 102')
    const file2 = peopleFile(place.folder, emails(3), 'more.csv')
    expect((await place.run(batchRun(file2, ['--quiet', '--max', '1', '--allow-duplicate']))).stderr).toBe('')
  })

  test('gone on with as another user says so', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(3))
    await place.run(batchRun(file, ['--max', '1']))
    const env = { REFCHECK_USER_EMAIL: 'mia.member@example.com' }
    const outcome = await place.run(batchRun(file, ['--max', '1']), { env })
    expect(outcome.stderr).toContain(
      'was begun as olive.owner@example.com, and its other rows are ordered as mia.member@example.com.',
    )
    expect((await place.run(batchRun(file))).stderr).not.toContain('was begun as')
  })

  test('without a terminal it takes a --yes', async () => {
    const place = await world()
    const outcome = await place.run(['batch', 'run', peopleFile(place.folder, emails(2)), '--package', '102'])
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('there is no terminal to confirm on')
    expect(ordered(place)).toEqual([])
  })
})

describe('Ctrl-C', () => {
  test('finishes the row in flight, says what is left, and the same command goes on', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(5))
    const stop = new AbortController()
    const fetch = place.sandbox.fetch.bind(place.sandbox)
    place.sandbox.fetch = (request, connection) => {
      if (request.method === 'POST' && place.sandbox.requests().length === 2) stop.abort()
      return fetch(request, connection)
    }
    const outcome = await place.run(batchRun(file), { signal: stop.signal })
    expect(outcome.code).toBe(130)
    const { counts, error, batch_id } = outcome.json() as Standing
    expect(counts).toMatchObject({ accepted: 3, pending: 2, unknown: 0 })
    expect(error).toMatchObject({
      code: 'interrupted',
      message: 'interrupted; 3 accepted so far, 2 not sent yet',
      hint: `Go on with: refcheck batch resume ${batch_id}`,
    })
    expect((await place.run(batchRun(file))).code).toBe(0)
    expect(ordered(place)).toEqual(emails(5))
  })
})
