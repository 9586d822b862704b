import { expect, test } from 'vitest'

import type { Submission } from '../../../src/domain/submission/submission.ts'
import { findRequestId } from '../../../src/usecases/request/read-requests.ts'

const createOrder = (requestId: string, requestStatus?: string): Submission =>
  ({
    requestId,
    requestStatus,
    recipient: { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' },
  }) as Submission

const createPorts = (orders: Submission[], unmatchedIds: string[] = []) => ({
  ledger: { list: async () => orders },
  inbox: { listUnmatchedIds: async () => unmatchedIds },
})

test('a unique start finds the id of a request that was ordered here or reported by an event', async () => {
  expect(await findRequestId(createPorts([createOrder('3f2b8c1e')]), '3f2b')).toBe('3f2b8c1e')
  expect(await findRequestId(createPorts([], ['3f2b8c1e', '9999']), '3f2b')).toBe('3f2b8c1e')
  expect(await findRequestId(createPorts([createOrder('3f2b8c1e')], ['3f2b8c1e']), '3f2b')).toBe('3f2b8c1e')
})

test('a start without or with several requests is refused with a hint', async () => {
  await expect(findRequestId(createPorts([]), '3f2b')).rejects.toMatchObject({
    code: 'not_found',
    message: 'no request of this store starts with "3f2b"',
  })
  const result = findRequestId(createPorts([createOrder('3f2b1', 'ERROR')], ['3f2b2']), '3f2b')
  await expect(result).rejects.toMatchObject({
    code: 'usage',
    message: '2 requests of this store start with "3f2b"',
    hint: 'Give more of the id:\n  3f2b2  not ordered with this store\n  3f2b1  Ana Silva, ERROR',
  })
})
