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

/** Creates an order. E-mails of different lengths (modulo 10) have different phones. */
const createOrder = (email = 'priya@example.com', name = 'Priya'): NewRequest => ({
  package_id: 102,
  recipient: { first_name: name, last_name: 'Shah', email, phone: `+6141234567${email.length % 10}` },
})
const countPosts = (): number => sandbox.calls().filter(({ method }) => method === 'POST').length
const createEndpoint = 'POST /v1/requests'

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

function createPaths(): JournalOptions {
  const folder = temporaryFolder()
  return { file: join(folder, 'own', 'orders.sqlite'), logFolder: join(folder, 'log') }
}

async function withJournal<T>(work: (journal: Journal) => Promise<T>, options = createPaths()): Promise<T> {
  const journal = await openJournal(options)
  try {
    return await work(journal)
  } finally {
    await journal.close()
  }
}

async function catchError(call: () => unknown): Promise<RefcheckError> {
  try {
    await call()
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('an order is made and recorded, and the same person is not ordered again, also after the journal was closed', async () => {
  const options = createPaths()
  const firstOrder = await withJournal((journal) => journal.order(client, createOrder()), options)
  expect(firstOrder).toMatchObject({ status: 'RECEIVED' })
  expect(statSync(options.file).mode & 0o777).toBe(0o600)

  await withJournal(async (journal) => {
    const duplicateError = await catchError(() => journal.order(client, createOrder('PRIYA@example.com')))
    expect(duplicateError).toMatchObject({
      code: 'duplicate',
      order: { requestId: firstOrder.request_id, batchId: firstOrder.batch_id, row: 1, match: 'exact' },
      hint: 'To order it once more, pass allowDuplicate: true. Read the request with client.getRequest().',
    })
    expect(countPosts()).toBe(1)
    const secondOrder = await journal.order(client, createOrder(), { allowDuplicate: true })
    expect((await journal.orders()).map(({ state, request_id }) => [state, request_id])).toEqual([
      ['accepted', firstOrder.request_id],
      ['accepted', secondOrder.request_id],
    ])
  }, options)
  expect(sandbox.requests()).toHaveLength(2)
})

test('a similar person is ordered only when that is allowed', async () => {
  await withJournal(async (journal) => {
    await journal.order(client, createOrder())
    const similar = {
      ...createOrder(),
      recipient: { ...createOrder().recipient, first_name: 'Robert', last_name: 'Hall' },
    }
    const error = await catchError(() => journal.order(client, similar))
    expect(error).toMatchObject({ code: 'duplicate', order: { match: 'similar' } })
    expect(error.hint).toContain('pass allowSimilar: true.')
    expect(countPosts()).toBe(1)
    await journal.order(client, similar, { allowSimilar: true })
    expect(countPosts()).toBe(2)
  })
})

test('of several calls for one person at the same time, in two journals of one file, one orders; other people are ordered too', async () => {
  const options = createPaths()
  await withJournal(
    (one) =>
      withJournal(async (other) => {
        const calls = [one, other, one, other].map((journal) => journal.order(client, createOrder()))
        const otherOrders = ['ann', 'bob', 'cem'].map((name) =>
          one.order(client, createOrder(`${name}-x@example.com`, name.repeat(3))),
        )
        const outcomes = await Promise.allSettled(calls)
        const errorCodes = outcomes.flatMap((each) =>
          each.status === 'rejected' ? [(each.reason as RefcheckError).code] : [],
        )
        expect(errorCodes).toEqual(['duplicate', 'duplicate', 'duplicate'])
        await Promise.all(otherOrders)
      }, options),
    options,
  )
  expect(sandbox.requests()).toHaveLength(4)
})

test.each<[what: string, fault: SandboxFault, isOrdered: boolean]>([
  ['a connection that is cut after the order was accepted', { kind: 'cut', when: 'after' }, true],
  ['a connection that is cut before the order was accepted', { kind: 'cut', when: 'before' }, false],
  ['a 500', { kind: 'status', status: 500, when: 'after' }, true],
])('%s leaves an unknown outcome, which is only reconciled by evidence', async (_what, fault, isOrdered) => {
  await withJournal(async (journal) => {
    sandbox.inject({ on: createEndpoint, fault, times: 1 })
    expect(await catchError(() => journal.order(client, createOrder()))).toMatchObject({
      code: 'outcome_unknown',
      hint: 'It may have been ordered, so it is not sent again. Reconcile it with journal.reconcile().',
    })
    expect((await journal.orders({ state: 'unknown' })).map(({ package_id }) => package_id)).toEqual([102])
    const duplicateError = await catchError(() =>
      journal.order(client, createOrder(), { allowDuplicate: true }),
    )
    expect(duplicateError).toMatchObject({ code: 'duplicate' })
    expect(duplicateError.hint).toContain('allowDuplicate does not override this.')
    expect(countPosts()).toBe(1)

    const withoutEvidence = await journal.reconcile(client)
    expect([withoutEvidence.accepted.length, withoutEvidence.unknown.length]).toEqual([0, 1])
    const requestIds = sandbox.requests().map(({ request_id }) => request_id)
    expect(requestIds).toHaveLength(isOrdered ? 1 : 0)
    const { accepted, unknown } = await journal.reconcile(client, { requestIds })
    expect(accepted.map(({ request_id, state }) => [request_id, state])).toEqual(
      requestIds.map((id) => [id, 'accepted']),
    )
    expect(unknown).toHaveLength(isOrdered ? 0 : 1)
  })
})

/** Makes an order whose answer is lost, before or after the service accepts the order. */
async function loseAnswer(journal: Journal, when: 'before' | 'after'): Promise<JournaledOrder> {
  sandbox.inject({ on: createEndpoint, fault: { kind: 'cut', when }, times: 1 })
  await catchError(() => journal.order(client, createOrder()))
  const [lost] = await journal.orders({ state: 'unknown' })
  if (lost === undefined) throw new Error('no order is unknown')
  return lost
}

test('if the provider has the order, the request that it names is read and recorded, and no other request is', async () => {
  await withJournal(async (journal) => {
    const lostOrder = await loseAnswer(journal, 'after')
    const ownId = sandbox.requests()[0]?.request_id ?? ''
    const otherRequest = await client.createRequest(createOrder('mei@example.com', 'Mei'))
    const error = await catchError(() =>
      journal.decide(client, lostOrder, { requestId: otherRequest.request_id }),
    )
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: `request ${otherRequest.request_id} is for somebody else, so it is not the order of Priya Shah`,
    })
    expect((await journal.orders()).map(({ state }) => state)).toEqual(['unknown'])
    expect(await journal.decide(client, lostOrder, { requestId: ownId })).toMatchObject({
      state: 'accepted',
      request_id: ownId,
    })
    expect(await catchError(() => journal.decide(client, lostOrder, { drop: true }))).toMatchObject({
      code: 'usage',
      message: 'Priya Shah is accepted, not unknown: there is nothing to decide',
    })
  })
})

test('if the provider does not know, a dropped order is never sent and conflicts with the same order, until the provider finds it', async () => {
  await withJournal(async (journal) => {
    const lostOrder = await loseAnswer(journal, 'after')
    expect(await journal.decide(client, lostOrder, { drop: true })).toMatchObject({ state: 'dropped' })
    expect(await catchError(() => journal.order(client, createOrder()))).toMatchObject({ code: 'duplicate' })
    expect(countPosts()).toBe(1)
    const ownId = sandbox.requests()[0]?.request_id ?? ''
    expect(await journal.decide(client, lostOrder, { requestId: ownId })).toMatchObject({ state: 'accepted' })
  })
})

test('if the provider does not have the order, it is sent again once, from 15 minutes after the attempt and with its e-mail', async () => {
  const options = createPaths()
  const lostOrder = await withJournal(async (journal) => {
    const unknown = await loseAnswer(journal, 'before')
    const earlyError = await catchError(() =>
      journal.decide(client, unknown, { confirmEmail: 'priya@example.com' }),
    )
    expect(earlyError).toMatchObject({
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
    const wrongEmailError = await catchError(() =>
      journal.decide(client, lostOrder, { confirmEmail: 'mei@example.com' }),
    )
    expect(wrongEmailError).toMatchObject({
      code: 'invalid_input',
      message: 'this is not the e-mail of Priya Shah',
    })
    expect(countPosts()).toBe(1)
    const resentOrder = await journal.decide(client, lostOrder, { confirmEmail: 'priya@example.com' })
    const [request] = sandbox.requests()
    expect([resentOrder.state, resentOrder.request_id, countPosts()]).toEqual([
      'accepted',
      request?.request_id,
      2,
    ])
  }, options)
  expect(sandbox.requests()).toHaveLength(1)
})

test.each<[field: string, message: string, decision: object, keyChanges?: object]>([
  ['decision', 'decision must have one of: requestId, confirmEmail, drop', {}],
  [
    'decision',
    'decision must have one of: requestId, confirmEmail, drop',
    { drop: true, confirmEmail: 'a@b.example' },
  ],
  ['requestId', 'requestId must be a UUID', { requestId: '3f2b8c1e' }],
  ['drop', 'drop must be true', { drop: false }],
  ['row', 'row must be a whole number from 1', { drop: true }, { row: 0 }],
])(
  'an invalid decision is refused, and the error names the field %s: %s',
  async (field, message, decision, keyChanges) => {
    await withJournal(async (journal) => {
      const key = { batch_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', row: 1, ...keyChanges }
      const error = await catchError(() => journal.decide(client, key, decision as Decision))
      expect(error).toMatchObject({ code: 'invalid_input', field, message })
    })
  },
)

test('an order that is not in the journal cannot be decided', async () => {
  await withJournal(async (journal) => {
    const key = { batch_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', row: 1 }
    expect(await catchError(() => journal.decide(client, key, { drop: true }))).toMatchObject({
      code: 'not_found',
      hint: 'List the orders with journal.orders().',
    })
  })
})

test('a refusal is recorded, and a corrected order of the person is allowed', async () => {
  await withJournal(async (journal) => {
    const error = await catchError(() => journal.order(client, { ...createOrder(), package_id: 999 }))
    expect(error).toMatchObject({ code: 'not_found' })
    expect((await journal.orders()).map(({ state }) => state)).toEqual(['rejected'])
    await journal.order(client, createOrder())
  })
  expect(sandbox.requests()).toHaveLength(1)
})

test('the journal waits after a 429 for as long as waitMs allows, and the order is made once', async () => {
  await withJournal(async (journal) => {
    const throttle = {
      on: createEndpoint,
      times: 1,
      fault: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
    } as const
    sandbox.inject(throttle)
    const error = await catchError(() => journal.order(client, createOrder(), { waitMs: 0 }))
    expect(error).toMatchObject({ code: 'throttled' })
    expect(error.hint).not.toMatch(/--|refcheck /)
    sandbox.inject(throttle)
    await journal.order(client, createOrder())
  })
  expect(sandbox.requests()).toHaveLength(1)
})

const processPath = fileURLToPath(new URL('journal-process.ts', import.meta.url))

/** Starts a process that makes one order with the same journal, and prints the outcome. */
function startOrderProcess(
  options: JournalOptions,
  service: Sandbox = sandbox,
): { child: ChildProcess; printed: Promise<string> } {
  const child = spawn(globalThis.process.execPath, ['--no-warnings', processPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { baseUrl, apiKey, userEmail } = service
  child.stdin.end(JSON.stringify({ options, client: { baseUrl, apiKey, userEmail }, order: createOrder() }))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { child, printed: once(child, 'close').then(() => output) }
}

test.each(['before', 'after'] as const)(
  'a process that is killed while it waits for the answer, %s the service accepted the order, leaves an unknown outcome',
  async (when) => {
    const options = createPaths()
    const removeFault = sandbox.inject({ on: createEndpoint, fault: { kind: 'hang', when } })
    const { child, printed } = startOrderProcess(options)
    await expect.poll(countPosts, { timeout: 20_000 }).toBe(1)
    child.kill('SIGKILL')
    expect(await printed).toBe('')
    removeFault()

    await withJournal(async (journal) => {
      expect(await catchError(() => journal.order(client, createOrder()))).toMatchObject({
        code: 'duplicate',
      })
      expect(await journal.orders()).toMatchObject([{ state: 'unknown', request_id: null }])
      const requestIds = sandbox.requests().map(({ request_id }) => request_id)
      const { accepted, unknown } = await journal.reconcile(client, { requestIds })
      const [acceptedCount, unknownCount] = when === 'after' ? [1, 0] : [0, 1]
      expect([accepted.length, unknown.length]).toEqual([acceptedCount, unknownCount])
    }, options)
    expect(countPosts()).toBe(1)
  },
  60_000,
)

test('of three processes that make the same order at once, one makes it', async () => {
  const options = createPaths()
  const outputs = await Promise.all([1, 2, 3].map(() => startOrderProcess(options).printed))
  expect(outputs.sort()).toEqual(['duplicate', 'duplicate', 'ordered'])
  expect(countPosts()).toBe(1)
}, 60_000)

test.each<[field: string, options: object]>([
  ['file', {}],
  ['file', { file: ':memory:' }],
  ['file', { file: 'postgres://db.example.com/orders' }],
  ['logFolder', { file: 'orders.sqlite', logFolder: 'log' }],
])('an invalid option of a journal is refused, and the error names it: %s of %j', async (field, options) => {
  expect(await catchError(() => openJournal(options as JournalOptions))).toMatchObject({
    code: 'invalid_input',
    field,
  })
})

test('an invalid client, an invalid order and a closed journal are refused, and nothing is sent', async () => {
  const journal = await openJournal(createPaths())
  expect(await catchError(() => journal.order({} as Client, createOrder()))).toMatchObject({
    field: 'client',
  })
  expect(await catchError(() => journal.order(client, { package_id: 1 } as NewRequest))).toMatchObject({
    field: 'recipient',
  })
  const phone = { ...createOrder(), recipient: { ...createOrder().recipient, phone: '0412 345 678' } }
  expect(await catchError(() => journal.order(client, phone))).toMatchObject({
    field: 'recipient.phone',
    message: 'recipient.phone must be + and a country calling code, with at most 15 digits in all',
  })
  const email = { ...createOrder(), recipient: { ...createOrder().recipient, email: 'priya' } }
  expect(await catchError(() => journal.order(client, email))).toMatchObject({
    field: 'recipient.email',
    message: 'recipient.email must be an e-mail address',
  })
  const abortError = await catchError(() =>
    journal.order(client, createOrder(), { signal: AbortSignal.abort() }),
  )
  expect(abortError).toMatchObject({ code: 'interrupted' })
  expect(await journal.orders()).toEqual([])
  await journal.close()
  expect(await catchError(() => journal.orders())).toMatchObject({
    code: 'usage',
    message: 'the journal is closed',
  })
  expect(sandbox.calls()).toEqual([])
})
