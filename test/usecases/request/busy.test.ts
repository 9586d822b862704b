import { DatabaseSync } from 'node:sqlite'

import { expect, onTestFinished, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { createTemporaryStores } from '../../store/ledger/temporary-stores.ts'
import { order, requestId, answer201 } from './answers.ts'
import { catchOrderError, createScriptedServices, defaultCreateOptions } from './scripted-ordering.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'

/** A clock that releases a lock after it has slept for `remainingMs`. */
class ReleasingClock extends ManualClock {
  readonly #release: () => void
  #remainingMs: number

  constructor(remainingMs: number, release: () => void) {
    super({ now: Date.UTC(2026, 10, 21, 9, 30), auto: true })
    this.#remainingMs = remainingMs
    this.#release = release
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal)
    if (this.#remainingMs > 0 && (this.#remainingMs -= ms) <= 0) this.#release()
  }
}

/** Returns services whose store another process locks for `lockWaitMs` from the moment the order is accepted. */
async function createServicesWithBusyStore(lockWaitMs: number) {
  const stores = createTemporaryStores(1)
  onTestFinished(() => stores.remove())
  const store = await stores.openStore()
  const other = new DatabaseSync(stores.path)
  onTestFinished(() => other.close())
  const clock = new ReleasingClock(lockWaitMs, () => other.exec('ROLLBACK'))
  const lockAndAccept = () => {
    other.exec('BEGIN IMMEDIATE')
    return Promise.resolve(answer201())
  }
  return {
    ledger: store.ledger,
    services: createScriptedServices(store, { creates: [lockAndAccept] }, { clock }),
  }
}

test('a store that is busy for 90 s while an outcome is recorded is waited for', async () => {
  const { ledger, services } = await createServicesWithBusyStore(90_000)
  expect(await createRequest(services, order, defaultCreateOptions)).toMatchObject({ requestId })
  expect(await ledger.list({})).toMatchObject([{ state: 'accepted', requestId }])
})

test('if the store is busy for ten minutes, the error has the outcome', async () => {
  const { services } = await createServicesWithBusyStore(Number.POSITIVE_INFINITY)
  const start = services.clock.monotonic()
  expect(await catchOrderError(services)).toMatchObject({
    code: 'io',
    message: expect.stringContaining(requestId) as string,
  })
  expect(services.clock.monotonic() - start).toBe(600_000)
})
