import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import { afterAll, afterEach, beforeAll, expect } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { HttpClient, type HttpClientOptions } from '../../src/http/client.ts'
import { TransportError } from '../../src/http/failure.ts'
import type { HttpRequest } from '../../src/http/types.ts'
import { readTlsVector } from './raw-server.ts'

/** Returns a client with the system clock and an empty environment. `await using` closes it. */
export function startClient(options: Partial<HttpClientOptions> = {}): HttpClient & AsyncDisposable {
  const client = new HttpClient({ clock: systemClock, env: {}, userAgent: 'refcheck-test', ...options })
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** Returns a POST request with a small body. */
export function post(
  url: string,
  extra: Pick<HttpRequest, 'headers' | 'signal' | 'limits'> = {},
): HttpRequest & { body: Uint8Array } {
  return { method: 'POST', url, body: Buffer.from('{"package_id":7}'), ...extra }
}

/** Expects the promise to reject with a TransportError, and returns the error. */
export async function expectTransportError(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(TransportError)
  return error as TransportError
}

/** Makes the tests of a file trust the authority of test/vectors/tls. Tests of other files do not trust it. */
export function trustAuthority(): void {
  const previousAuthorities = getCACertificates('default')
  beforeAll(() => setDefaultCACertificates([readTlsVector('authority.pem')]))
  afterAll(() => setDefaultCACertificates(previousAuthorities))
}

/** Checks after each test of a file that no error was thrown or rejected without a handler. */
export function expectNoProcessFaults(): void {
  const faults: unknown[] = []
  const recordFault = (fault: unknown): void => {
    faults.push(fault)
  }
  beforeAll(() => {
    process.on('unhandledRejection', recordFault).on('uncaughtException', recordFault)
  })
  afterEach(async () => {
    await nextTurn()
    expect(faults).toEqual([])
  })
  afterAll(() => {
    process.off('unhandledRejection', recordFault).off('uncaughtException', recordFault)
  })
}

/** Waits three turns of the event loop, so that pending callbacks run. */
export async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns the TCP sockets and connection attempts of this process that are open. */
export function listOpenSockets(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS)/.test(name))
}
