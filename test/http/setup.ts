import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import { afterAll, afterEach, beforeAll, expect } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { HttpClient, type HttpClientOptions } from '../../src/http/client.ts'
import { TransportError } from '../../src/http/failure.ts'
import type { HttpRequest } from '../../src/http/types.ts'
import { vector } from './raw-server.ts'

/** A client on this machine's clock, without any environment; close it with `await using`. */
export function startClient(options: Partial<HttpClientOptions> = {}): HttpClient & AsyncDisposable {
  const client = new HttpClient({ clock: systemClock, env: {}, userAgent: 'refcheck-test', ...options })
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** A small create. */
export function post(
  url: string,
  extra: Pick<HttpRequest, 'headers' | 'signal' | 'limits'> = {},
): HttpRequest & { body: Uint8Array } {
  return { method: 'POST', url, body: Buffer.from('{"package_id":7}'), ...extra }
}

/** The TransportError that `work` ends with. */
export async function transportError(work: Promise<unknown>): Promise<TransportError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(TransportError)
  return error as TransportError
}

/** The file's tests trust the authority of test/vectors/tls, and those of other files in this process do not. */
export function trustAuthority(): void {
  const before = getCACertificates('default')
  beforeAll(() => setDefaultCACertificates([vector('authority.pem')]))
  afterAll(() => setDefaultCACertificates(before))
}

/** After every test of the file: nothing was thrown or rejected without a handler. */
export function expectNoProcessFaults(): void {
  const faults: unknown[] = []
  const note = (fault: unknown): void => {
    faults.push(fault)
  }
  beforeAll(() => {
    process.on('unhandledRejection', note).on('uncaughtException', note)
  })
  afterEach(async () => {
    await nextTurn()
    expect(faults).toEqual([])
  })
  afterAll(() => {
    process.off('unhandledRejection', note).off('uncaughtException', note)
  })
}

/** Lets everything that is ready happen first. */
export async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** TCP sockets and connection attempts of this process that are still open. */
export function openSockets(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS)/.test(name))
}
