import { expect } from 'vitest'

import type { Api } from '../../../src/api/api.ts'
import type { CreateAnswer } from '../../../src/domain/submission/outcome.ts'
import type { RequestResource } from '../../../src/contract/request.ts'

export interface Script {
  baseUrl?: string
  /** The answers to the calls that create a request, in order. A function is called when the request is sent. */
  creates?: (CreateAnswer | (() => CreateAnswer | Promise<CreateAnswer>))[]
  /** The answer or error of each read, by request id. */
  reads?: Record<string, RequestResource | Error>
}

export interface ScriptedApi extends Api {
  /** The bodies that were sent, as text. */
  readonly sentBodies: string[]
  readonly readIds: string[]
  /** Fails if answers of the script were not used. */
  expectAllAnswersUsed(): void
}

/** Returns an API that gives the scripted answers and fails for any other call. */
export function scriptedApi({
  baseUrl = 'http://127.0.0.1:4010',
  creates = [],
  reads = {},
}: Script): ScriptedApi {
  const remainingCreates = [...creates]
  const sent: string[] = []
  const readIds: string[] = []
  const rejectCall = (name: string) => () => Promise.reject(new Error(`unscripted call: ${name}`))
  return {
    baseUrl,
    userEmail: 'owner@example.com',
    sentBodies: sent,
    readIds,
    async createRequest(body) {
      sent.push(new TextDecoder().decode(body))
      const next = remainingCreates.shift()
      if (next === undefined) throw new Error('unscripted call: createRequest')
      return typeof next === 'function' ? next() : next
    },
    getRequest(id) {
      readIds.push(id)
      const read = reads[id]
      if (read === undefined) return rejectCall(`getRequest ${id}`)()
      return read instanceof Error ? Promise.reject(read) : Promise.resolve(read)
    },
    expectAllAnswersUsed: () => expect(remainingCreates).toEqual([]),
    clockDifferenceMs: () => undefined,
    ping: rejectCall('ping'),
    listPackages: rejectCall('listPackages'),
    packageSchema: rejectCall('packageSchema'),
    listUsers: rejectCall('listUsers'),
    getAny: rejectCall('getAny'),
    openReport: rejectCall('openReport'),
    openSignedReport: rejectCall('openSignedReport'),
  }
}
