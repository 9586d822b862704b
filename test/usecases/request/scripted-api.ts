import { expect } from 'vitest'

import type { Api } from '../../../src/api/api.ts'
import type { CreateAnswer } from '../../../src/domain/submission/outcome.ts'
import type { RequestResource } from '../../../src/contract/request.ts'

export interface Script {
  baseUrl?: string
  /** The answers to creates, in order. A function is called when the request is sent. */
  creates?: (CreateAnswer | (() => CreateAnswer | Promise<CreateAnswer>))[]
  /** The answer or error of each read, by request id. */
  reads?: Record<string, RequestResource | Error>
}

export interface ScriptedApi extends Api {
  /** The bodies that were sent, as text. */
  readonly sent: string[]
  readonly readIds: string[]
  /** Fails if answers of the script were not used. */
  expectDone(): void
}

/** Returns an API that gives the scripted answers and fails for any other call. */
export function scriptedApi({
  baseUrl = 'http://127.0.0.1:4010',
  creates = [],
  reads = {},
}: Script): ScriptedApi {
  const left = [...creates]
  const sent: string[] = []
  const readIds: string[] = []
  const unscripted = (name: string) => () => Promise.reject(new Error(`unscripted call: ${name}`))
  return {
    baseUrl,
    userEmail: 'owner@example.com',
    sent,
    readIds,
    async createRequest(body) {
      sent.push(new TextDecoder().decode(body))
      const next = left.shift()
      if (next === undefined) throw new Error('unscripted call: createRequest')
      return typeof next === 'function' ? next() : next
    },
    getRequest(id) {
      readIds.push(id)
      const read = reads[id]
      if (read === undefined) return unscripted(`getRequest ${id}`)()
      return read instanceof Error ? Promise.reject(read) : Promise.resolve(read)
    },
    expectDone: () => expect(left).toEqual([]),
    clockDifferenceMs: () => undefined,
    ping: unscripted('ping'),
    listPackages: unscripted('listPackages'),
    packageSchema: unscripted('packageSchema'),
    listUsers: unscripted('listUsers'),
    getAny: unscripted('getAny'),
    openReport: unscripted('openReport'),
    openSignedReport: unscripted('openSignedReport'),
  }
}
