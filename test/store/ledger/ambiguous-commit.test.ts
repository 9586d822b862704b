import { expect, test } from 'vitest'

import { NoAnswerError, StoreDownError } from '../../../src/errors/kinds.ts'
import { resolveAmbiguousCommit } from '../../../src/store/ledger/engine.ts'

const noAnswer = new NoAnswerError('no answer', { hint: '' })

test('after a change without an answer the store is read, and the change is repeated if it was not made, with five attempts at most', async () => {
  const calls: string[] = []
  const change = (): Promise<string> => {
    calls.push('change')
    return Promise.reject(noAnswer)
  }
  const findNothing = (): Promise<undefined> => {
    calls.push('look')
    return Promise.resolve(undefined)
  }
  await expect(resolveAmbiguousCommit(change, findNothing)).rejects.toBe(noAnswer)
  expect(calls.join(' ')).toBe('change look change look change look change look change')
  expect(await resolveAmbiguousCommit(change, () => Promise.resolve('made'))).toBe('made')
})

test('after a refused change the store is not read', async () => {
  const refused = new StoreDownError('the server is shutting down', { hint: '' })
  const findResult = (): Promise<string> => Promise.resolve('made by another process')
  await expect(resolveAmbiguousCommit(() => Promise.reject(refused), findResult)).rejects.toBe(refused)
})
