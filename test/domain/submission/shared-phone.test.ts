import { expect, test } from 'vitest'

import { phoneSharer } from '../../../src/domain/submission/shared-phone.ts'
import { ann, batchRow } from '../batch/rows.ts'

const row = {
  batchId: 'b-2',
  row: 2,
  baseUrl: 'https://api.example.com',
  packageId: 7,
  recipient: ann,
  addedAt: 0,
  kind: 'file',
} as const
const bob = { first_name: 'Bob', last_name: 'Lee', email: 'bob@example.com', phone: ann.phone }
const candidate = (order = {}) => ({
  order: { ...batchRow({ recipient: bob, ...order }), packageId: 7 },
  samePerson: false,
  sameEmail: false,
  samePhone: true,
})
const kin = { joined: new Set([7]) }

test('a couple with one phone is mentioned', () => {
  expect(phoneSharer(row, [candidate()], kin)?.recipient).toBe(bob)
})

test.each([
  ['of another service', [candidate({ baseUrl: 'https://other.example.com' })]],
  ['of another package', [{ ...candidate(), order: { ...candidate().order, packageId: 8 } }]],
  ['found by the e-mail', [{ ...candidate(), samePhone: false }]],
  ['whose person was removed', [candidate({ recipient: undefined })]],
  ['who may be the same person', [candidate({ recipient: { ...bob, first_name: 'Anne' } })]],
])('somebody %s is not', (_what, candidates) => {
  expect(phoneSharer(row, candidates, kin)).toBeUndefined()
})
