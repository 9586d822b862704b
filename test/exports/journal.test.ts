import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { type Client, createClient, type NewRequest, RefcheckError } from '../../src/exports/client.ts'
import {
  type Decision,
  type Journal,
  type JournaledOrder,
  type JournalOptions,
  openJournal,
} from '../../src/exports/journal.ts'
import { type Sandbox, type SandboxFault, startSandbox } from '../../src/exports/sandbox.ts'
import { temporaryFolder } from '../harness/world.ts'

const order = (email = 'priya@example.com', name = 'Priya'): NewRequest => ({
  package_id: 102,
  recipient: { first_name: name, last_name: 'Shah', email, phone: `+6141234567${email.length % 10}` },
})
const posts = (): number => sandbox.calls().filter(({ method }) => method === 'POST').length
const creates = 'POST /v1/requests'

let sandbox: Sandbox
let client: Client
beforeAll(async () => {
  sandbox = await startSandbox({ quota: [] })
  client = createClient(sandbox)
})
beforeEach(() => sandbox.reset())
afterAll(async () => {
  await client.close()
  await sandbox.close()
})

function newPaths(): JournalOptions {
  const folder = temporaryFolder()
  return { file: join(folder, 'own', 'orders.sqlite'), logFolder: join(folder, 'log') }
}

async function withJournal<T>(work: (journal: Journal) => Promise<T>, options = newPaths()): Promise<T> {
  const journal = await openJournal(options)
  try {
    return await work(journal)
  } finally {
    await journal.close()
  }
}

async function failure(call: () => unknown): Promise<RefcheckError> {
  try {
    await call()
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('an order is made and recorded, and the same person is not ordered again, also after the journal was closed', async () => {
  const options = newPaths()
  const made = await withJournal((journal) => journal.order(client, order()), options)
  expect(made).toMatchObject({ status: 'RECEIVED' })
  expect(statSync(options.file).mode & 0o777).toBe(0o600)

  await withJournal(async (journal) => {
    const again = await failure(() => journal.order(client, order('PRIYA@example.com')))
    expect(again).toMatchObject({
      code: 'duplicate',
      order: { requestId: made.request_id, batchId: made.batch_id, row: 1, match: 'exact' },
      hint: 'To order it once more, pass allowDuplicate: true. Read the request with client.getRequest().',
    })
    expect(posts()).toBe(1)
    const second = await journal.order(client, order(), { allowDuplicate: true })
    expect((await journal.orders()).map(({ state, request_id }) => [state, request_id])).toEqual([
      ['accepted', made.request_id],
      ['accepted', second.request_id],
    ])
  }, options)
  expect(sandbox.requests()).toHaveLength(2)
})

test('a similar person is ordered only when that is allowed', async () => {
  await withJournal(async (journal) => {
    await journal.order(client, order())
    const similar = {
      ...order(),
      recipient: { ...order().recipient, first_name: 'Robert', last_name: 'Hall' },
    }
    const refused = await failure(() => journal.order(client, similar))
    expect(refused).toMatchObject({ code: 'duplicate', order: { match: 'similar' } })
    expect(refused.hint).toContain('pass allowSimilar: true.')
    expect(posts()).toBe(1)
    await journal.order(client, similar, { allowSimilar: true })
    expect(posts()).toBe(2)
  })
})

test('of calls at the same time one orders a person, in two journals of one file, and everybody else is ordered', async () => {
  const options = newPaths()
  await withJournal(
    (one) =>
      withJournal(async (other) => {
        const calls = [one, other, one, other].map((journal) => journal.order(client, order()))
        const others = ['ann', 'bob', 'cem'].map((name) =>
          one.order(client, order(`${name}-x@example.com`, name.repeat(3))),
        )
        const outcomes = await Promise.allSettled(calls)
        const refused = outcomes.flatMap((each) =>
          each.status === 'rejected' ? [(each.reason as RefcheckError).code] : [],
        )
        expect(refused).toEqual(['duplicate', 'duplicate', 'duplicate'])
        await Promise.all(others)
      }, options),
    options,
  )
  expect(sandbox.requests()).toHaveLength(4)
})

test.each<[what: string, fault: SandboxFault, isOrdered: boolean]>([
  ['a connection that is cut after the order was taken', { kind: 'cut', when: 'after' }, true],
  ['a connection that is cut before it was', { kind: 'cut', when: 'before' }, false],
  ['a 500', { kind: 'status', status: 500, when: 'after' }, true],
])('%s leaves an unknown outcome, which only evidence ends', async (_what, fault, isOrdered) => {
  await withJournal(async (journal) => {
    sandbox.inject({ on: creates, fault, times: 1 })
    expect(await failure(() => journal.order(client, order()))).toMatchObject({
      code: 'outcome_unknown',
      hint: 'It may have been ordered, so it is not sent again. Reconcile it with journal.reconcile().',
    })
    expect((await journal.orders({ state: 'unknown' })).map(({ package_id }) => package_id)).toEqual([102])
    const again = await failure(() => journal.order(client, order(), { allowDuplicate: true }))
    expect(again).toMatchObject({ code: 'duplicate' })
    expect(again.hint).toContain('allowDuplicate does not override this.')
    expect(posts()).toBe(1)

    const silent = await journal.reconcile(client)
    expect([silent.accepted.length, silent.unknown.length]).toEqual([0, 1])
    const requestIds = sandbox.requests().map(({ request_id }) => request_id)
    expect(requestIds).toHaveLength(isOrdered ? 1 : 0)
    const { accepted, unknown } = await journal.reconcile(client, { requestIds })
    expect(accepted.map(({ request_id, state }) => [request_id, state])).toEqual(
      requestIds.map((id) => [id, 'accepted']),
    )
    expect(unknown).toHaveLength(isOrdered ? 0 : 1)
  })
})

/** An order whose answer was lost: the service may have it or not. */
async function lose(journal: Journal, when: 'before' | 'after'): Promise<JournaledOrder> {
  sandbox.inject({ on: creates, fault: { kind: 'cut', when }, times: 1 })
  await failure(() => journal.order(client, order()))
  const [lost] = await journal.orders({ state: 'unknown' })
  if (lost === undefined) throw new Error('no order is unknown')
  return lost
}

test('they have it: the request that the provider named is read and recorded, and no other one', async () => {
  await withJournal(async (journal) => {
    const lost = await lose(journal, 'after')
    const own = sandbox.requests()[0]?.request_id ?? ''
    const other = await client.createRequest(order('mei@example.com', 'Mei'))
    const refused = await failure(() => journal.decide(client, lost, { requestId: other.request_id }))
    expect(refused).toMatchObject({
      code: 'invalid_input',
      message: `request ${other.request_id} is for somebody else, so it is not the order of Priya Shah`,
    })
    expect((await journal.orders()).map(({ state }) => state)).toEqual(['unknown'])
    expect(await journal.decide(client, lost, { requestId: own })).toMatchObject({
      state: 'accepted',
      request_id: own,
    })
    expect(await failure(() => journal.decide(client, lost, { drop: true }))).toMatchObject({
      code: 'usage',
      message: 'Priya Shah is accepted, not unknown: there is nothing to decide',
    })
  })
})

test('neither is known: a dropped order is never sent and conflicts with the same order, until the provider finds it', async () => {
  await withJournal(async (journal) => {
    const lost = await lose(journal, 'after')
    expect(await journal.decide(client, lost, { drop: true })).toMatchObject({ state: 'dropped' })
    expect(await failure(() => journal.order(client, order()))).toMatchObject({ code: 'duplicate' })
    expect(posts()).toBe(1)
    const own = sandbox.requests()[0]?.request_id ?? ''
    expect(await journal.decide(client, lost, { requestId: own })).toMatchObject({ state: 'accepted' })
  })
})

test('they do not have it: the order is sent again once, from 15 minutes after the attempt and with its e-mail', async () => {
  const options = newPaths()
  const lost = await withJournal(async (journal) => {
    const unknown = await lose(journal, 'before')
    const early = await failure(() => journal.decide(client, unknown, { confirmEmail: 'priya@example.com' }))
    expect(early).toMatchObject({
      code: 'usage',
      message: 'the order of Priya Shah was sent less than 15 minutes ago: its event may still arrive',
    })
    return unknown
  }, options)
  const database = new DatabaseSync(options.file)
  database.exec(
    'UPDATE attempts SET began_at = began_at - 960000, ended_at = ended_at - 960000; UPDATE submissions SET changed_at = changed_at - 960000',
  )
  database.close()
  await withJournal(async (journal) => {
    const wrong = await failure(() => journal.decide(client, lost, { confirmEmail: 'mei@example.com' }))
    expect(wrong).toMatchObject({
      code: 'invalid_input',
      message: 'this is not the e-mail of Priya Shah',
    })
    expect(posts()).toBe(1)
    const sent = await journal.decide(client, lost, { confirmEmail: 'priya@example.com' })
    const [request] = sandbox.requests()
    expect([sent.state, sent.request_id, posts()]).toEqual(['accepted', request?.request_id, 2])
  }, options)
  expect(sandbox.requests()).toHaveLength(1)
})

test.each<[field: string, message: string, decision: object, of?: object]>([
  ['decision', 'decision must have one of: requestId, confirmEmail, drop', {}],
  [
    'decision',
    'decision must have one of: requestId, confirmEmail, drop',
    { drop: true, confirmEmail: 'a@b.example' },
  ],
  ['requestId', 'requestId must be a UUID', { requestId: '3f2b8c1e' }],
  ['drop', 'drop must be true', { drop: false }],
  ['row', 'row must be a whole number from 1', { drop: true }, { row: 0 }],
])('a decision that cannot be made is refused by its field %s: %s', async (field, message, decision, of) => {
  await withJournal(async (journal) => {
    const key = { batch_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', row: 1, ...of }
    const refused = await failure(() => journal.decide(client, key, decision as Decision))
    expect(refused).toMatchObject({ code: 'invalid_input', field, message })
  })
})

test('an order that is not in the journal cannot be decided', async () => {
  await withJournal(async (journal) => {
    const key = { batch_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', row: 1 }
    expect(await failure(() => journal.decide(client, key, { drop: true }))).toMatchObject({
      code: 'not_found',
      hint: 'List the orders with journal.orders().',
    })
  })
})

test('a refusal is recorded, and a corrected order of the person is free', async () => {
  await withJournal(async (journal) => {
    const refused = await failure(() => journal.order(client, { ...order(), package_id: 999 }))
    expect(refused).toMatchObject({ code: 'not_found' })
    expect((await journal.orders()).map(({ state }) => state)).toEqual(['rejected'])
    await journal.order(client, order())
  })
  expect(sandbox.requests()).toHaveLength(1)
})

test('a 429 is waited out as far as waitMs allows, and the order is made once', async () => {
  await withJournal(async (journal) => {
    const throttle = {
      on: creates,
      times: 1,
      fault: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
    } as const
    sandbox.inject(throttle)
    const refused = await failure(() => journal.order(client, order(), { waitMs: 0 }))
    expect(refused).toMatchObject({ code: 'throttled' })
    expect(refused.hint).not.toMatch(/--|refcheck /)
    sandbox.inject(throttle)
    await journal.order(client, order())
  })
  expect(sandbox.requests()).toHaveLength(1)
})

const orderer = fileURLToPath(new URL('journal-process.ts', import.meta.url))

/** Another process that makes one order with the same journal, and prints what came of it. */
function process(
  options: JournalOptions,
  of: Sandbox = sandbox,
): { child: ChildProcess; printed: Promise<string> } {
  const child = spawn(globalThis.process.execPath, ['--no-warnings', orderer], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { baseUrl, apiKey, userEmail } = of
  child.stdin.end(JSON.stringify({ options, client: { baseUrl, apiKey, userEmail }, order: order() }))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return { child, printed: once(child, 'close').then(() => printed) }
}

test.each(['before', 'after'] as const)(
  'a process that is killed while the service holds the answer back, %s it took the order',
  async (when) => {
    const options = newPaths()
    const takeBack = sandbox.inject({ on: creates, fault: { kind: 'hang', when } })
    const { child, printed } = process(options)
    await expect.poll(posts, { timeout: 20_000 }).toBe(1)
    child.kill('SIGKILL')
    expect(await printed).toBe('')
    takeBack()

    await withJournal(async (journal) => {
      expect(await failure(() => journal.order(client, order()))).toMatchObject({ code: 'duplicate' })
      expect(await journal.orders()).toMatchObject([{ state: 'unknown', request_id: null }])
      const requestIds = sandbox.requests().map(({ request_id }) => request_id)
      const { accepted, unknown } = await journal.reconcile(client, { requestIds })
      const [isAccepted, isUnknown] = when === 'after' ? [1, 0] : [0, 1]
      expect([accepted.length, unknown.length]).toEqual([isAccepted, isUnknown])
    }, options)
    expect(posts()).toBe(1)
  },
  60_000,
)

test('of three processes at once one makes the order', async () => {
  const options = newPaths()
  const printed = await Promise.all([1, 2, 3].map(() => process(options).printed))
  expect(printed.sort()).toEqual(['duplicate', 'duplicate', 'ordered'])
  expect(posts()).toBe(1)
}, 60_000)

test.each<[field: string, options: object]>([
  ['file', {}],
  ['file', { file: ':memory:' }],
  ['file', { file: 'postgres://db.example.com/orders' }],
  ['logFolder', { file: 'orders.sqlite', logFolder: 'log' }],
])('an option of a journal that cannot be is refused by its name: %s of %j', async (field, options) => {
  expect(await failure(() => openJournal(options as JournalOptions))).toMatchObject({
    code: 'invalid_input',
    field,
  })
})

test('a client that is none, an order that is none, and a closed journal are refused; nothing is sent', async () => {
  const journal = await openJournal(newPaths())
  expect(await failure(() => journal.order({} as Client, order()))).toMatchObject({ field: 'client' })
  expect(await failure(() => journal.order(client, { package_id: 1 } as NewRequest))).toMatchObject({
    field: 'recipient',
  })
  const phone = { ...order(), recipient: { ...order().recipient, phone: '0412 345 678' } }
  expect(await failure(() => journal.order(client, phone))).toMatchObject({
    field: 'recipient.phone',
    message: 'recipient.phone must be + and a country calling code, with at most 15 digits in all',
  })
  const email = { ...order(), recipient: { ...order().recipient, email: 'priya' } }
  expect(await failure(() => journal.order(client, email))).toMatchObject({
    field: 'recipient.email',
    message: 'recipient.email must be an e-mail address',
  })
  const aborted = await failure(() => journal.order(client, order(), { signal: AbortSignal.abort() }))
  expect(aborted).toMatchObject({ code: 'interrupted' })
  expect(await journal.orders()).toEqual([])
  await journal.close()
  expect(await failure(() => journal.orders())).toMatchObject({
    code: 'usage',
    message: 'the journal is closed',
  })
  expect(sandbox.calls()).toEqual([])
})
