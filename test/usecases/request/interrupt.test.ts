import { afterEach, beforeEach, expect, test } from 'vitest'

import type { CreateAnswer } from '../../../src/domain/submission/outcome.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { createTemporaryStores, type TemporaryStores } from '../../store/ledger/temporary-stores.ts'
import {
  clientError,
  lostAnswer,
  order,
  requestId,
  requestOf,
  serverError,
  answer201,
  connectionRefused,
} from './answers.ts'
import type { Script } from './scripted-api.ts'
import {
  createScriptedServices,
  type ScriptedOrderServices,
  defaultCreateOptions as options,
} from './scripted-ordering.ts'

let stores: TemporaryStores
let store: Store
let ledger: Ledger
let stop: AbortController

beforeEach(async () => {
  stores = createTemporaryStores()
  store = await stores.openStore()
  ledger = store.ledger
  stop = new AbortController()
})
afterEach(() => stores.remove())

const createServices = (script: Script): ScriptedOrderServices =>
  createScriptedServices(store, script, { signal: stop.signal })

/** Returns a create during which Ctrl-C is pressed and that has the given answer. */
function interruptAndAnswer(answer: CreateAnswer): () => CreateAnswer {
  return () => {
    stop.abort()
    return answer
  }
}

test('Ctrl-C before the order sends nothing and journals nothing', async () => {
  stop.abort()
  const services = createServices({})
  await expect(createRequest(services, order, options)).rejects.toMatchObject({ code: 'interrupted' })
  expect(await ledger.list({})).toEqual([])
})

test('Ctrl-C while the store is read sends nothing, and the same order can be sent later', async () => {
  const interruptingLedger: Ledger = {
    ...bindLedger(ledger),
    async recover(at) {
      stop.abort()
      return ledger.recover(at)
    },
  }
  const services = { ...createServices({}), ledger: interruptingLedger }
  await expect(createRequest(services, order, options)).rejects.toMatchObject({ code: 'interrupted' })
  expect(services.api.sentBodies).toEqual([])
  expect(await ledger.list({})).toMatchObject([{ state: 'cancelled', attempts: 0 }])
})

test('Ctrl-C during the call waits for the answer, and an accepted order is reported with the interruption', async () => {
  const created = await createRequest(
    createServices({ creates: [interruptAndAnswer(answer201())] }),
    order,
    options,
  )
  expect(created).toMatchObject({
    requestId,
    interruption: {
      code: 'interrupted',
      message: `interrupted; the order was accepted as request ${requestId}`,
    },
  })
  expect(await ledger.list({})).toMatchObject([{ state: 'accepted' }])
})

test.each([
  [
    clientError(400, 'recipient.phone: invalid'),
    'rejected',
    'nothing was ordered (recipient.phone: invalid)',
  ],
  [clientError(401, 'invalid API key'), 'cancelled', 'nothing was ordered (invalid API key)'],
  [clientError(429, 'rate limit exceeded', '5'), 'cancelled', 'nothing was ordered (rate limit exceeded)'],
  [connectionRefused, 'cancelled', 'nothing was ordered (connection refused)'],
  [lostAnswer, 'unknown', 'the order may or may not have been accepted (the connection was cut)'],
])(
  'Ctrl-C during a call without an accepted order records its outcome and reports the interruption: %#',
  async (answer, state, outcomeText) => {
    const services = createServices({ creates: [interruptAndAnswer(answer)] })
    await expect(createRequest(services, order, options)).rejects.toMatchObject({
      code: 'interrupted',
      message: `interrupted; ${outcomeText}`,
    })
    expect(await ledger.list({})).toMatchObject([{ state, attempts: 1 }])
    services.api.expectAllAnswersUsed()
  },
)

test('the interruption of an order with an unknown outcome has a hint', async () => {
  await expect(
    createRequest(createServices({ creates: [interruptAndAnswer(lostAnswer)] }), order, options),
  ).rejects.toMatchObject({
    hint: expect.stringMatching(/^It may have been ordered/) as string,
  })
})

test('Ctrl-C during a wait orders nothing, and the same order can be sent later', async () => {
  const services = createServices({ creates: [clientError(429, 'rate limit exceeded', '5')] })
  services.onEvent = () => stop.abort()
  await expect(createRequest(services, order, options)).rejects.toMatchObject({ code: 'interrupted' })
  expect(await ledger.list({})).toMatchObject([{ state: 'cancelled' }])
})

test('after Ctrl-C no request is read as evidence, and the offered id is stored', async () => {
  const answerWithId = serverError(500, { request_id: requestId })
  const services = createServices({
    creates: [interruptAndAnswer(answerWithId)],
    reads: { [requestId]: requestOf(order) },
  })
  await expect(createRequest(services, order, options)).rejects.toMatchObject({ code: 'interrupted' })
  expect(services.api.readIds).toEqual([])
  expect(await ledger.list({})).toMatchObject([{ state: 'unknown', offeredId: requestId }])
})
