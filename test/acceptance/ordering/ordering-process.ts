/**
 * A process that makes orders: each line on stdin is a command in JSON, and each line on stdout is its report. It runs
 * the code of the program; only the point at which it is killed is chosen by the test.
 */
import { createInterface } from 'node:readline'

import { connectApi } from '../../../src/api/api.ts'
import { windowsFor } from '../../../src/domain/quota/windows.ts'
import { createGovernor } from '../../../src/usecases/quota/governor.ts'
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
  /** The point at which the process is killed by SIGKILL, such as "before move" or "after add". */
  killAt?: string
}

/** The request id if the person was ordered, otherwise the code and message of the error. */
export interface Report {
  requestId?: string
  code?: string
  message?: string
}

const http = new HttpClient({ clock, env: {}, userAgent: 'refcheck' })

/** Returns a proxy of an object that kills the process before or after a call of one of its methods. */
function wrapToKill<T extends object>(object: T, killAt: string | undefined): T {
  const killIfAtPoint = (point: string): void => {
    if (point === killAt) process.kill(process.pid, 'SIGKILL')
  }
  return new Proxy(object, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        killIfAtPoint(`before ${String(name)}`)
        const result: unknown = await Reflect.apply(value, target, args)
        killIfAtPoint(`after ${String(name)}`)
        return name === 'acquire' ? wrapToKill(result as object, killAt) : result
      }
    },
  })
}

async function order({ folder, baseUrl, email, allowDuplicate = false, killAt }: Command): Promise<Report> {
  const paths = { config: folder, data: folder }
  let store: Store | undefined
  try {
    store = await openStore({ chosenAddress: undefined, paths, cwd: folder, clock, random })
    const credentials = { apiKey: 'k'.repeat(32), userEmail: 'owner@example.com' }
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 0 })
    const { batches, quota } = store
    const services = {
      api: wrapToKill(api, killAt),
      ledger: wrapToKill(store.ledger, killAt),
      batches,
      governor: createGovernor({ quota, account: 'one', windows: windowsFor(baseUrl, undefined), clock }),
      schemas: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
      clock,
      random,
    }
    // Each e-mail has a different phone, because two people with the same phone may be the same person.
    const phone = `+61${Buffer.from(email).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000_000, 7)}`
    const recipient = { first_name: 'Ana', last_name: 'Silva', email, phone }
    const options = { allowDuplicate, waitBudgetMs: 0 }
    const { requestId } = await createRequest(services, { package_id: 12, recipient }, options)
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
  const report = await order(JSON.parse(line) as Command)
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
