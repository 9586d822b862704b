import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { runThreeRows, addBatch } from './runner.ts'
import {
  expectFree,
  createId,
  clockAfterMinutes,
  memoryStore,
  packages,
  requestFor,
  createRunner,
  sendRow,
  sentAt,
  addUnknownRows,
} from './unknown-rows.ts'
import { lostAnswer, answer201 } from '../request/answers.ts'
import { type Answer, ScriptedPrompter } from '../../harness/scripted-prompter.ts'
import { beginOne } from '../../store/ledger/batches.ts'
import { orderRows, rowsOf, statesOf } from '../../store/ledger/files.ts'
import type { ProvidersAnswer } from '../../../src/domain/batch/reconciliation.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import type { RowVersion } from '../../../src/domain/submission/submission.ts'
import { IoError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { reconcileByDecision } from '../../../src/usecases/batch/reconcile-batch.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

type World = NonNullable<Parameters<typeof createRunner>[1]>

/** Records an answer for row 1 of a file whose rows are all unknown. Returns the results and the calls. */
async function record(
  given: ProvidersAnswer | undefined,
  {
    rows = 1,
    row = 1,
    reason,
    answers,
    batchId,
    ...world
  }: World & { rows?: number; row?: number; reason?: string; answers?: Answer[]; batchId?: string } = {},
) {
  const id = batchId ?? (await addUnknownRows(store, { rows: orderRows(rows) })).batch.id
  const changes: Change[] = []
  const prompter = answers && new ScriptedPrompter(answers)
  const runner = createRunner(store, {
    clock: clockAfterMinutes(20),
    ...(prompter && { prompter }),
    ...world,
    api: { ...packages, ...world.api },
    ledger: {
      move(from: RowVersion, change: Change) {
        changes.push(change)
        return store.ledger.move(from, change)
      },
      ...world.ledger,
    },
  })
  const done = await reconcileByDecision(runner.ports, { batchId: id, row, answer: given, reason }).catch(
    (thrown: unknown) => ({ thrown }),
  )
  prompter?.finish()
  return { ...runner, done, changes, states: await statesOf(store, id), id }
}

const requestAnswer: ProvidersAnswer = { kind: 'has', requestId: createId(1) }
const createOrderAnswer = (confirmedEmail?: string): ProvidersAnswer => ({ kind: 'order', confirmedEmail })
const withRequest = (changes: Parameters<typeof requestFor>[1] = {}, row = 1) => ({
  reads: { [createId(1)]: requestFor(row, changes) },
})

describe('the answer that the provider has a request', () => {
  test('records a request that fits, with the user and the reason', async () => {
    const { done, changes, states, api, clock } = await record(requestAnswer, {
      ...withRequest(),
      clock: clockAfterMinutes(1),
    })
    expect(done).toMatchObject({ failure: undefined, batch: { counts: { accepted: 1 } } })
    expect({ states, read: api.readIds }).toEqual({ states: ['accepted'], read: [createId(1)] })
    expect(changes).toEqual([
      {
        to: 'accepted',
        at: clock.now(),
        requestId: createId(1),
        requestStatus: 'RECEIVED',
        decision: {
          by: 'owner@example.com',
          why: `the provider has it as request ${createId(1)}; a read showed this row’s order`,
        },
      },
    ])
  })

  test('records the given reason', async () => {
    const { changes } = await record(requestAnswer, { ...withRequest(), reason: 'they wrote on Monday' })
    expect(changes).toMatchObject([
      { decision: { why: 'they wrote on Monday; a read showed this row’s order' } },
    ])
  })

  test('shows the differences, which the user confirms', async () => {
    const { states, changes } = await record(requestAnswer, {
      ...withRequest({ requester: { email: 'other@example.com' } }),
      answers: [
        { ask: /Different: another requester\. Record this request for Ana Silva\?$/, confirm: true },
      ],
    })
    expect(states).toEqual(['accepted'])
    expect(changes).toMatchObject([
      {
        decision: {
          why: `the provider has it as request ${createId(1)}; confirmed: another requester`,
        },
      },
    ])
  })

  test('asks for this confirmation as a destructive question', async () => {
    const destructiveFlags: unknown[] = []
    const prompter = new ScriptedPrompter([{ ask: /^Request/, confirm: true }])
    const confirm = prompter.confirm.bind(prompter)
    prompter.confirm = (question) => {
      destructiveFlags.push(question.isDestructive)
      return confirm(question)
    }
    await record(requestAnswer, { ...withRequest({ requester: { email: 'other@example.com' } }), prompter })
    expect(destructiveFlags).toEqual([true])
  })

  test('does not change the row if the user declines', async () => {
    const { done, states, changes } = await record(requestAnswer, {
      ...withRequest({ created_at: '2026-11-21T10:30:00.000Z' }),
      answers: [{ ask: /Different: created outside the time of the attempt/, confirm: false }],
    })
    expect(done).toMatchObject({ thrown: { message: `request ${createId(1)} was not confirmed` } })
    expect({ states, changes }).toEqual({ states: ['unknown'], changes: [] })
  })

  test('is refused without a terminal if there are differences, and the hint has the command', async () => {
    const { done, states } = await record(
      requestAnswer,
      withRequest({ requester: { email: 'other@example.com' } }),
    )
    expect(done).toMatchObject({
      thrown: {
        code: 'usage',
        message: `request ${createId(1)} differs from the order of Ana Silva: another requester`,
        hint: expect.stringContaining(`--row 1 --request-id ${createId(1)}`) as string,
      },
    })
    expect(states).toEqual(['unknown'])
  })

  test('is refused for a request of another order', async () => {
    const other = await addBatch(store, { rows: orderRows(1, 5) })
    const [row] = await rowsOf(store, other.id)
    if (row !== undefined)
      await sendRow(store, row, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
    const { done, states } = await record(requestAnswer, withRequest())
    expect(done).toMatchObject({ thrown: { code: 'duplicate' } })
    expect(states).toEqual(['unknown'])
  })

  test('fails if another process has changed the row meanwhile', async () => {
    const { done } = await record(requestAnswer, {
      ...withRequest(),
      ledger: { move: () => Promise.resolve(false) },
    })
    expect(done).toMatchObject({
      thrown: { code: 'internal', message: expect.stringContaining('changed') as string },
    })
  })

  test('compares an erased row by its fingerprints', async () => {
    const { batch } = await addUnknownRows(store)
    const rows = store.batches.rows.bind(store.batches)
    store.batches.rows = async function* (...args) {
      for await (const row of rows(...args)) yield { ...row, recipient: undefined }
    }
    const { states } = await record(requestAnswer, { ...withRequest(), batchId: batch.id })
    expect(states).toEqual(['accepted'])
  })

  test('is a call within the quota, whose wait is reported in seconds', async () => {
    const waitSeconds: number[] = []
    const { ports } = createRunner(store, {
      ...withRequest(),
      windows: [{ calls: 1, seconds: 60 }],
      clock: clockAfterMinutes(20),
    })
    const { batch } = await addUnknownRows(store)
    await ports.governor.claim('create')
    await reconcileByDecision(
      { ...ports, onQuotaWait: (seconds) => waitSeconds.push(seconds) },
      { batchId: batch.id, row: 1, answer: requestAnswer, reason: undefined },
    )
    expect(waitSeconds).toHaveLength(1)
    expect(waitSeconds[0]).toBeGreaterThanOrEqual(60)
    expect(waitSeconds[0]).toBeLessThan(70)
  })
})

describe('the answer to drop the row', () => {
  test('is recorded at once, and nothing is sent', async () => {
    const { done, states, changes, clock } = await record({ kind: 'leave' }, { clock: clockAfterMinutes(1) })
    expect(done).toMatchObject({ failure: undefined, batch: { counts: { dropped: 1 } } })
    expect(states).toEqual(['dropped'])
    expect(changes).toEqual([
      {
        to: 'dropped',
        at: clock.now(),
        reason: 'dropped by a person’s decision',
        decision: { by: 'owner@example.com', why: 'a person decided to drop it' },
      },
    ])
  })

  test('records the given reason, and is refused for a dropped row', async () => {
    const { changes, id } = await record({ kind: 'leave' }, { reason: 'nobody knows' })
    expect(changes).toMatchObject([{ decision: { why: 'nobody knows' } }])
    const again = await record({ kind: 'leave' }, { batchId: id })
    expect(again.done).toMatchObject({ thrown: { code: 'internal' } })
  })

  test('fails if another process has changed the row meanwhile', async () => {
    const { done } = await record({ kind: 'leave' }, { ledger: { move: () => Promise.resolve(false) } })
    expect(done).toMatchObject({ thrown: { message: expect.stringContaining('changed') as string } })
  })
})

describe('the answer to order the row again', () => {
  test('sends only this row, and records who decided, when and why', async () => {
    const { done, states, changes, api, clock } = await record(createOrderAnswer(' PERSON1@example.com '), {
      rows: 2,
      creates: [answer201(createId(8))],
    })
    expect(done).toMatchObject({ failure: { code: 'outcome_unknown' }, batch: { holder: undefined } })
    expect({ states, sent: api.sentBodies.length }).toEqual({ states: ['accepted', 'unknown'], sent: 1 })
    expect(changes.slice(0, 1)).toMatchObject([
      {
        to: 'pending',
        at: clock.now(),
        reason: 'sent again by a person’s decision',
        decision: { by: 'owner@example.com', why: 'a person decided to send it again' },
      },
    ])
  })

  test('does not change other pending rows', async () => {
    const batch = await addBatch(store, { rows: orderRows(3) })
    const [, second] = await rowsOf(store, batch.id)
    if (second !== undefined) await sendRow(store, second, { to: 'unknown', reason: 'cut' })
    const { states, api } = await record(createOrderAnswer('person2@example.com'), {
      batchId: batch.id,
      row: 2,
      reason: 'they looked twice',
      creates: [answer201(createId(8))],
    })
    expect(api.sentBodies).toHaveLength(1)
    expect(states).toEqual(['pending', 'accepted', 'pending'])
  })

  test.each([['somebody@example.com'], ['']])('with another e-mail (%j) sends nothing', async (typed) => {
    const { done, states, changes } = await record(createOrderAnswer(typed))
    expect(done).toMatchObject({
      thrown: { code: 'invalid_input', message: 'this is not the e-mail of Ana Silva' },
    })
    expect({ states, changes }).toEqual({ states: ['unknown'], changes: [] })
    // The lease of the batch is released.
    const [batch] = await store.batches.list()
    await expectFree(store, batch?.id ?? '')
  })

  test('is refused within 15 minutes of the attempt, before any question', async () => {
    const { done, states } = await record(createOrderAnswer(), { clock: clockAfterMinutes(14), answers: [] })
    expect(done).toMatchObject({ thrown: { message: expect.stringContaining('15 minutes') as string } })
    expect(states).toEqual(['unknown'])
  })

  test('asks for the recipient’s e-mail on a terminal, after a warning', async () => {
    const { states, batchEvents } = await record(createOrderAnswer(), {
      creates: [answer201(createId(8))],
      answers: [{ ask: 'Type the e-mail of Ana Silva to order again:', type: 'person1@example.com' }],
    })
    expect(states).toEqual(['accepted'])
    expect(batchEvents[0]).toEqual({ name: 'may-order-again', who: 'Ana Silva' })
  })

  test('does nothing without a terminal and without the e-mail', async () => {
    const { done, states } = await record(createOrderAnswer())
    expect(done).toMatchObject({
      thrown: { code: 'usage', hint: 'Nothing was done. Run it again with --confirm-email EMAIL.' },
    })
    expect(states).toEqual(['unknown'])
  })

  test('is refused while a runner has the batch', async () => {
    const { batch } = await addUnknownRows(store)
    const { done, states } = await record(createOrderAnswer('person1@example.com'), {
      batchId: batch.id,
      ledger: { acquire: () => Promise.resolve(undefined) },
    })
    expect(done).toMatchObject({ thrown: { code: 'incomplete' } })
    expect(states).toEqual(['unknown'])
  })

  test('fails if another process has changed the row meanwhile, and nothing is sent', async () => {
    const { done, api } = await record(createOrderAnswer('person1@example.com'), {
      ledger: { move: () => Promise.resolve(false) },
    })
    expect(done).toMatchObject({ thrown: { message: expect.stringContaining('changed') as string } })
    expect(api.sentBodies).toEqual([])
  })

  test('can be given for a single order too', async () => {
    const attempt = await beginOne(store.ledger, 'person1@example.com')
    await store.ledger.move(attempt, { to: 'unknown', at: sentAt, reason: 'cut' })
    const { batchId } = attempt
    const { done, states } = await record(createOrderAnswer('person1@example.com'), {
      batchId,
      creates: [answer201(createId(8))],
    })
    expect({ done, states }).toMatchObject({ done: { failure: undefined }, states: ['accepted'] })
    await expectFree(store, batchId, 'single')
  })

  test('leaves the row unknown if the outcome is unknown again', async () => {
    const { done, states } = await record(createOrderAnswer('person1@example.com'), { creates: [lostAnswer] })
    expect(states).toEqual(['unknown'])
    expect(done).toMatchObject({ failure: { code: 'outcome_unknown' } })
  })
})

describe('the question for the provider’s answer', () => {
  const question = /^Does the provider have a request for Ana Silva \(person1@example\.com\), package 12/

  test('names the recipient, and "later" returns the commands for all answers', async () => {
    const { done, states } = await record(undefined, {
      answers: [{ ask: question, choose: 'I do not know yet' }],
    })
    expect(states).toEqual(['unknown'])
    const hint = expect.stringMatching(
      /--request-id UUID[^]*--confirm-email person1@example\.com[^]*--drop$/,
    ) as string
    expect(done).toMatchObject({
      failure: { code: 'outcome_unknown', message: 'the order of Ana Silva is still not settled', hint },
    })
  })

  test('leads to the chosen action', async () => {
    const { states } = await record(undefined, {
      answers: [{ ask: question, choose: 'Nobody knows: never send it' }],
    })
    expect(states).toEqual(['dropped'])
  })

  test('is refused for a row that is not in the batch or is settled', async () => {
    const { done } = await record({ kind: 'leave' }, { row: 7 })
    expect(done).toMatchObject({
      thrown: { message: expect.stringMatching(/^row 7 is not in batch/) as string },
    })
    const batch = await addBatch(store, { rows: orderRows(2, 7) })
    const pending = await record({ kind: 'leave' }, { row: 2, batchId: batch.id })
    expect(pending.done).toMatchObject({
      thrown: { message: 'Ana Silva is pending, not unknown: there is nothing to decide' },
    })
  })

  test('can be answered for a dropped row', async () => {
    const { id } = await record({ kind: 'leave' })
    expect((await record(requestAnswer, { ...withRequest(), batchId: id })).states).toEqual(['accepted'])
  })
})

test('an accepted order that could not be recorded is recorded by its request id', async () => {
  const disk = new IoError('no space is left')
  const { end, batch } = await runThreeRows(store, {
    creates: [answer201(createId(1))],
    ledger: { moveAndBegin: () => Promise.reject(disk) },
  })
  const hint = expect.stringContaining(`${batch.id} --row 1 --request-id ${createId(1)}`) as string
  expect(end).toMatchObject({ thrown: { hint } })
  const { states } = await record(requestAnswer, { ...withRequest(), batchId: batch.id })
  expect(states).toEqual(['accepted', 'pending', 'pending'])
})

test('an unreachable service settles nothing', async () => {
  const down = new UnavailableError('down')
  const { done, states } = await record(requestAnswer, { reads: { [createId(1)]: down } })
  expect({ done, states }).toEqual({ done: { thrown: down }, states: ['unknown'] })
})
