import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { moveOrdersToPast } from '../harness/postgres-store.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { type Session, session } from '../harness/session.ts'
import { writeEvents } from '../harness/unknown-row.ts'

/**
 * These tests record the provider's answer about an order with an unknown outcome, and show events that nearly match it.
 * Version 0.1.0 could not record an id, offered only the command that ordered again, and reported near matches as "nothing proves it".
 */

const minute = 60_000
const stores = ['SQLite', 'PostgreSQL'] as const
const run = 'batch run people.csv --package 102 --yes --json'

/**
 * Runs a batch of two rows, the second of which has an unknown outcome. Returns the batch's id, and the id of the
 * request that the service made for that row.
 */
async function createUnknownRow(here: Session, tag = '+cut-after', clock = here.clock) {
  writePeopleFile(here.folder, ['a1@example.com', `a2${tag}@example.com`])
  const { batch_id } = (await here.type(run, { clock })).json() as { batch_id: string }
  return { id: batch_id, requestId: here.sandbox.requests()[1]?.request_id ?? '' }
}

describe('the provider has the request (--request-id)', () => {
  test('the request is read once and its id recorded at once, in the results file too, and nothing is sent', async () => {
    const here = await session()
    const { id, requestId } = await createUnknownRow(here)
    const before = here.listCalls().length
    const outcome = await here.type(`batch reconcile ${id} --row 2 --request-id ${requestId} --json`)
    expect([outcome.code, outcome.json()]).toMatchObject([0, { counts: { accepted: 2, unknown: 0 } }])
    // The first read shows that the key belongs to the batch's organisation.
    expect(here.listCalls().slice(before)).toEqual([
      'GET /v1/requests/REQUEST_1 200',
      'GET /v1/requests/REQUEST_2 200',
    ])
    expect(here.read('people.results.csv')).toContain(`,accepted,${requestId},`)
    const again = await here.type(`batch reconcile ${id} --row 2 --request-id ${requestId}`)
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('Ana Row2 (line 3) is accepted')])
  })

  test('the id of another order, another person’s request or no request is refused, and the row stays unknown', async () => {
    const here = await session()
    const { id } = await createUnknownRow(here)
    const [other] = here.sandbox.requests()
    const command = `batch reconcile ${id} --row 2 --request-id`
    const refused = await here.type(`${command} ${other?.request_id} --json`)
    expect([refused.code, refused.json()]).toMatchObject([2, { error: { code: 'duplicate' } }])
    const otherStore = { REFCHECK_STORE: ':memory:' }
    const person = '--first-name Ben --last-name Other --email ben@example.com --phone +61400000099'
    await here.type(`request create --package 102 ${person} --yes`, { env: otherStore })
    const foreign = await here.type(`${command} ${here.sandbox.requests().at(-1)?.request_id} --json`)
    expect([foreign.code, foreign.json()]).toMatchObject([2, { error: { code: 'invalid_input' } }])
    expect((await here.type(`${command} 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55`)).code).toBe(5)
    expect((await here.type(`batch status ${id} --json`)).json()).toMatchObject({ counts: { unknown: 1 } })
  })

  test('a request created at another time is shown and confirmed by a person, and refused without a terminal', async () => {
    const here = await session()
    const slowClock = new ManualClock({ now: here.clock.now() - 5 * minute, auto: true })
    const { id, requestId } = await createUnknownRow(here, '+cut-after', slowClock)
    const command = `batch reconcile ${id} --row 2 --request-id ${requestId}`
    expect(await here.type(command)).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 2 --request-id REQUEST_2
      2> Error: request REQUEST_2 differs from the order of Ana Row2 (line 3): created outside the time of the attempt
      2> Nothing was recorded. A person has to confirm it on a terminal: refcheck batch reconcile BATCH_1 --row 2 --request-id REQUEST_2
      exit 2
    `)
    const declined = [{ ask: /Record this request for Ana Row2 \(line 3\)\?/, confirm: false }]
    expect((await here.type(command, { answers: declined })).code).toBe(2)
    const confirmed = [{ ask: /Different: created outside the time of the attempt/, confirm: true }]
    expect((await here.type(command, { answers: confirmed })).code).toBe(0)
    expect((await here.type(`batch status ${id} --json`)).json()).toMatchObject({ counts: { accepted: 2 } })
  })

  test('on a terminal the question names the person and the package', async () => {
    const here = await session()
    const { id, requestId } = await createUnknownRow(here)
    const labels = [
      'I do not know yet',
      'They have it',
      'They do not have it: order it',
      'Nobody knows: never send it',
    ]
    const answers = [
      {
        ask: /have a request for Ana Row2 \(a2\+cut-after@example\.com\), 102 Identity check only/,
        choose: 'They have it',
        offered: labels,
      },
      { ask: 'Id of their request:', type: requestId },
    ]
    const outcome = await here.type(`batch reconcile ${id} --row 2`, { answers })
    expect([outcome.code, here.listOrderedEmails()]).toEqual([
      0,
      ['a1@example.com', 'a2+cut-after@example.com'],
    ])
  })

  test('without a terminal and without an answer, the message lists the three possible answers', async () => {
    const here = await session()
    const { id } = await createUnknownRow(here)
    expect(await here.type(`batch reconcile ${id} --row 2`)).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 2
      2> Error: what the provider said of Ana Row2 (line 3) is missing
      2> Ask the provider whether they have a request for this person, and record the answer.
      2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
      2> They do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email a2+cut-after@example.com
      2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
      exit 2
    `)
  })
})

test('--drop is recorded at once, without a typed e-mail, and the row is never sent', async () => {
  const here = await session()
  const { id } = await createUnknownRow(here, '+cut-before')
  const outcome = await here.type(`batch reconcile ${id} --row 2 --drop`)
  expect(outcome.code).toBe(0)
  await here.type(`batch resume ${id}`)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
})

describe('events that nearly match a row', () => {
  test('an event that matches a row in all but the time (a clock 5 minutes off) is shown, and is no evidence', async () => {
    const here = await session()
    const { id } = await createUnknownRow(
      here,
      '+cut-after',
      new ManualClock({ now: here.clock.now() + 5 * minute, auto: true }),
    )
    writeEvents(here)
    expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --events events.ndjson
      Ana Row2: no request matches for certain; a person has to decide
        request REQUEST_2, created 2026-11-20 12:00 +00:00, fits but for: created outside the time of the attempt
      2> Error: 1 order is still not settled: no proof was found
      2> Ask the provider whether they have a request for this person, and record the answer.
      2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
      2> They do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL
      2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
      exit 8
    `)
  })

  test.each([-5, 5])(
    'an event that matches a row in all but the time is evidence if the Date header shows that the clock is %i minutes off',
    async (offsetMinutes) => {
      const here = await session()
      const clock = new ManualClock({ now: here.clock.now() + offsetMinutes * minute, auto: true })
      const { id } = await createUnknownRow(here, '+cut-after', clock)
      writeEvents(here)
      here.intercept(async (request, ask) => {
        const answer = await ask(request)
        const headers = new Headers(answer.headers)
        headers.set('date', new Date(here.clock.now()).toUTCString())
        return new Response(answer.body, { status: answer.status, headers })
      })
      const outcome = await here.type(`batch reconcile ${id} --events events.ndjson --json`, { clock })
      expect([outcome.code, outcome.json()]).toMatchObject([0, { settled: [{ row: 2 }] }])
    },
  )

  test('an event that matches a row in all but the spelling of the person is shown, and is no evidence', async () => {
    const here = await session()
    const { id } = await createUnknownRow(here, '+cut-before')
    const person = '--first-name Anne --last-name Row2 --email a2+cut-before@example.com --phone +61400000002'
    const changedPerson = person.replace('+cut-before', '')
    await here.type(`request create --package 102 ${changedPerson} --yes`, {
      env: { REFCHECK_STORE: ':memory:' },
    })
    writeEvents(here)
    const outcome = await here.type(`batch reconcile ${id} --events events.ndjson --json`)
    expect([outcome.code, outcome.json()]).toMatchObject([
      8,
      { open: [], ambiguous: [{ row: 2, requests: [{ differs: ['person'] }] }] },
    ])
  })
})

describe('a batch that another key or user continues', () => {
  const foreignUser = ({ sandbox }: Session) => ({
    REFCHECK_API_KEY: sandbox.otherOrganisationOwner.apiKey,
    REFCHECK_USER_EMAIL: sandbox.otherOrganisationOwner.userEmail,
  })
  /** Another user of the organisation that started the batch. */
  const colleague = (here: Session) => ({ REFCHECK_USER_EMAIL: here.sandbox.people.member })

  test('a key that cannot read the batch’s accepted requests is refused before anything is sent', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(3))
    const { batch_id } = (await here.type(`${run} --max 1`)).json() as { batch_id: string }
    expect(await here.type(`batch resume ${batch_id} --yes`, { env: foreignUser(here) }))
      .toMatchInlineSnapshot(`
      $ REFCHECK_API_KEY=HrvtwoM8H2HmBFoC8PpHTAPy2nQaMdaO REFCHECK_USER_EMAIL=stan.stranger@example.net refcheck batch resume BATCH_1 --yes
      2> Error: this API key cannot read what batch BATCH_1 has ordered, so it is another organisation’s
      2> Nothing was sent. Choose the profile that the batch was begun with (as olive.owner@example.com): --profile NAME
      exit 2
    `)
    expect(here.listOrderedEmails()).toEqual(createEmails(1))
  })

  test('a colleague whose key can read the accepted requests continues the batch', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(3))
    const { batch_id } = (await here.type(`${run} --max 1`)).json() as { batch_id: string }
    const outcome = await here.type(`batch resume ${batch_id} --yes --json`, { env: colleague(here) })
    expect([outcome.code, outcome.json()]).toMatchObject([0, { counts: { accepted: 3 } }])
  })

  test('a batch without accepted requests continues if its starter is a user of the key’s organisation', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    here.sandbox.setCredits(0)
    const { batch_id } = (await here.type(run)).json() as { batch_id: string }
    here.sandbox.setCredits(null)
    const refused = await here.type(`batch resume ${batch_id} --yes`, { env: foreignUser(here) })
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('is no user of this API key’s organisation'),
    ])
    expect(here.listOrderedEmails()).toEqual([])
    const outcome = await here.type(`batch resume ${batch_id} --yes --json`, { env: colleague(here) })
    expect([outcome.code, outcome.json()]).toMatchObject([0, { counts: { accepted: 2 } }])
  })

  const decisions = (requestId: string): [string, string][] => [
    ['--request-id', `--request-id ${requestId}`],
    ['--confirm-email', '--confirm-email a2+cut-after@example.com'],
    ['--drop', '--drop'],
  ]

  test.each(stores)('a decision about a row is refused before it changes anything (%s)', async (store) => {
    const here = await session({ store })
    const { id, requestId } = await createUnknownRow(here)
    if (store === 'PostgreSQL') await moveOrdersToPast(20 * minute, here.env['REFCHECK_STORE'])
    const before = (await here.type(`batch rows ${id} --json`)).json()
    const laterClock = new ManualClock({ now: here.clock.now() + 20 * minute, auto: true })
    for (const [flag, answer] of decisions(requestId)) {
      const refused = await here.type(`batch reconcile ${id} --row 2 ${answer} --json`, {
        env: foreignUser(here),
        clock: laterClock,
      })
      const message = expect.stringContaining('so it is another organisation’s') as string
      expect([flag, refused.code, refused.json()]).toMatchObject([flag, 2, { error: { message } }])
      expect((await here.type(`batch rows ${id} --json`)).json()).toEqual(before)
    }
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2+cut-after@example.com'])
  })

  test.each(stores)(
    'a decision with a profile of another service is refused before it changes anything (%s)',
    async (store) => {
      const here = await session({ store })
      const { id, requestId } = await createUnknownRow(here)
      const before = (await here.type(`batch rows ${id} --json`)).json()
      const calls = here.listCalls().length
      const laterClock = new ManualClock({ now: here.clock.now() + 20 * minute, auto: true })
      for (const [flag, answer] of decisions(requestId)) {
        const refused = await here.type(`batch reconcile ${id} --row 2 ${answer}`, {
          env: { REFCHECK_BASE_URL: 'https://staging.example' },
          clock: laterClock,
        })
        expect([flag, refused.code, refused.stderr]).toEqual([
          flag,
          2,
          expect.stringContaining('and this profile is for https://staging.example'),
        ])
        expect((await here.type(`batch rows ${id} --json`)).json()).toEqual(before)
      }
      expect(here.listCalls()).toHaveLength(calls)
      expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2+cut-after@example.com'])
    },
  )

  test('a batch whose starter has left the organisation continues after a person confirms it', async () => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    here.sandbox.setCredits(0)
    const { batch_id } = (await here.type(run)).json() as { batch_id: string }
    here.sandbox.setCredits(null)
    here.sandbox.makePermanentChange('deactivate-user')
    const resume = `batch resume ${batch_id} --yes`
    expect((await here.type(resume, { env: colleague(here) })).code).toBe(2)
    const declined = [{ ask: /Have they left it/, confirm: false }]
    expect((await here.type(resume, { env: colleague(here), answers: declined })).code).toBe(2)
    expect(here.listOrderedEmails()).toEqual([])
    const confirmed = [{ ask: /Have they left it, and are its rows to be ordered as/, confirm: true }]
    expect((await here.type(resume, { env: colleague(here), answers: confirmed })).code).toBe(0)
    expect(here.listOrderedEmails()).toEqual(createEmails(2))
  })
})

test('the question before a run with --max names how many of the people are ordered now', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(3))
  const runSome = 'batch run people.csv --package 102 --max'
  const answers = [{ ask: /^Order 102 Identity check only for 1 of 3 people at /, confirm: true }]
  expect((await here.type(`${runSome} 1`, { answers })).stdout).toContain(
    '1 of 3 people in people.csv is ordered',
  )
  const others = [{ ask: /^Order 102 Identity check only for 2 people \(/, confirm: true }]
  expect(await here.type(`${runSome} 2`, { answers: others })).toMatchObject({ code: 0 })
})
