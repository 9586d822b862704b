/**
 * A process that orders: a line of JSON on stdin is an order to make, a line on stdout what came of it.
 * Everything in it is what ships; only the moment of its death is chosen from outside.
 */
import { createInterface } from 'node:readline'

import { connectApi } from '../../../src/api/api.ts'
import { windowsFor } from '../../../src/domain/quota/windows.ts'
import { governor } from '../../../src/usecases/quota/governor.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'
import { RefcheckError } from '../../../src/errors/kinds.ts'
import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { HttpClient } from '../../../src/http/client.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

export interface Command {
  folder: string
  baseUrl: string
  email: string
  allowDuplicate?: boolean
  /** "before move", "after add" …: dies there, as by kill -9. */
  dieAt?: string
}

/** `requestId` where it was ordered, else the error's code and message. */
export interface Report {
  requestId?: string
  code?: string
  message?: string
}

const http = new HttpClient({ clock, env: {}, userAgent: 'refcheck' })

/** The same object, dying before or after one of its methods. */
function mortal<T extends object>(whole: T, dieAt: string | undefined): T {
  const die = (point: string): void => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL')
  }
  return new Proxy(whole, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        die(`before ${String(name)}`)
        const result: unknown = await Reflect.apply(value, target, args)
        die(`after ${String(name)}`)
        return name === 'acquire' ? mortal(result as object, dieAt) : result
      }
    },
  })
}

async function run({ folder, baseUrl, email, allowDuplicate = false, dieAt }: Command): Promise<Report> {
  const paths = { config: folder, data: folder }
  let store: Store | undefined
  try {
    store = await openStore({ chosen: undefined, paths, cwd: folder, clock, random })
    const credentials = { apiKey: 'k'.repeat(32), userEmail: 'owner@example.com' }
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 0 })
    const { batches, quota } = store
    const ordering = {
      api: mortal(api, dieAt),
      ledger: mortal(store.ledger, dieAt),
      batches,
      governor: governor({ quota, account: 'one', windows: windowsFor(baseUrl, undefined), clock }),
      schemas: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
      clock,
      random,
    }
    // Who shares a phone may be the same person.
    const phone = `+61${Buffer.from(email).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000_000, 7)}`
    const recipient = { first_name: 'Ana', last_name: 'Silva', email, phone }
    const options = { allowDuplicate, waitBudgetMs: 0 }
    const { requestId } = await createRequest(ordering, { package_id: 12, recipient }, options)
    return { requestId }
  } catch (error) {
    if (error instanceof RefcheckError) return { code: error.code, message: error.message }
    throw error
  } finally {
    await store?.close()
  }
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const report = await run(JSON.parse(line) as Command)
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
