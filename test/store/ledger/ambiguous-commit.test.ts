import { expect, test } from 'vitest'

import { NoAnswerError, StoreDownError } from '../../../src/errors/kinds.ts'
import { resolveAmbiguousCommit } from '../../../src/store/ledger/engine.ts'

const silence = new NoAnswerError('no answer', { hint: '' })

test('a change without an answer is looked up, and repeated if it was not made, with five attempts at most', async () => {
  const asked: string[] = []
  const change = (): Promise<string> => {
    asked.push('change')
    return Promise.reject(silence)
  }
  const nothing = (): Promise<undefined> => {
    asked.push('look')
    return Promise.resolve(undefined)
  }
  await expect(resolveAmbiguousCommit(change, nothing)).rejects.toBe(silence)
  expect(asked.join(' ')).toBe('change look change look change look change look change')
  expect(await resolveAmbiguousCommit(change, () => Promise.resolve('made'))).toBe('made')
})

test('a change that was refused is not looked up', async () => {
  const refused = new StoreDownError('the server is shutting down', { hint: '' })
  const looked = (): Promise<string> => Promise.resolve('somebody else’s')
  await expect(resolveAmbiguousCommit(() => Promise.reject(refused), looked)).rejects.toBe(refused)
})
