import { describe, expect, test } from 'vitest'

import { createId } from './unknown-rows.ts'
import { order, requestOf } from '../request/answers.ts'
import { type Batch, type BatchRow, createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import { NotFoundError, UnavailableError } from '../../../src/errors/kinds.ts'
import { requireSameOrganisation } from '../../../src/usecases/batch/same-organisation.ts'

interface Organisation {
  /** The request ids of the accepted rows; undefined for a lost id. */
  accepted?: (string | undefined)[]
  /** The e-mail of the user who started the batch. */
  userEmail?: string
  /** The e-mails of the users of the key, or the error of reading them. */
  users?: string[] | Error
  /** The errors of reads, by request id; other requests can be read. */
  reads?: Record<string, Error>
  signal?: AbortSignal
  /** The answer to the question whether the starter has left; undefined if no question can be asked. */
  confirm?: boolean
}

/** Returns the result of the check and the calls and questions that it made. */
async function checkOrganisation({
  accepted = [],
  userEmail = 'owner@example.com',
  users = [],
  reads = {},
  signal,
  confirm,
}: Organisation) {
  const calls: string[] = []
  const batch = {
    id: 'the-batch',
    userEmail,
    counts: { ...createEmptyCounts(), accepted: accepted.length },
  } as Batch
  const ports = {
    signal,
    api: {
      userEmail: 'Owner@example.com',
      listUsers: () => {
        calls.push('users')
        const all = users instanceof Error ? undefined : users.map((email) => ({ email }))
        return (all === undefined ? Promise.reject(users) : Promise.resolve(all)) as Promise<never>
      },
      getRequest(id: string) {
        calls.push(id)
        const error = reads[id]
        return error === undefined ? Promise.resolve(requestOf(order, 'RECEIVED', id)) : Promise.reject(error)
      },
    },
    batches: {
      async *rows(_: string, { states = [], limit = 99 } = {}) {
        expect(states).toEqual(['accepted'])
        for (const requestId of accepted.slice(0, limit)) yield { requestId } as BatchRow
      },
    },
  }
  const end = await requireSameOrganisation(
    ports,
    batch,
    confirm === undefined
      ? undefined
      : ({ id }) => {
          calls.push(`a person about ${id}`)
          return Promise.resolve(confirm)
        },
  ).catch((thrown: unknown) => ({ thrown }))
  return { end, calls }
}

const notFound = new NotFoundError('no such request')
const down = new UnavailableError('down')
const refused = { thrown: { code: 'usage' } }

describe('a batch with accepted requests', () => {
  test('is sent with a key that can read one of them', async () => {
    expect(await checkOrganisation({ accepted: [createId(1), createId(2)] })).toEqual({
      end: undefined,
      calls: [createId(1)],
    })
  })

  test('is sent with such a key of another user too', async () => {
    const { end } = await checkOrganisation({ accepted: [createId(1)], userEmail: 'starter@example.com' })
    expect(end).toBeUndefined()
  })

  test('has up to three requests read, because one may have been removed at the service or its id lost here', async () => {
    const reads = { [createId(1)]: notFound, [createId(2)]: notFound }
    expect(await checkOrganisation({ accepted: [createId(1), createId(2), createId(3)], reads })).toEqual({
      end: undefined,
      calls: [createId(1), createId(2), createId(3)],
    })
    expect(await checkOrganisation({ accepted: [undefined, createId(2)] })).toEqual({
      end: undefined,
      calls: [createId(2)],
    })
  })

  test('is refused with a key that can read none of them, without a question', async () => {
    const reads = Object.fromEntries([1, 2, 3].map((each) => [createId(each), notFound]))
    const { end, calls } = await checkOrganisation({
      accepted: [1, 2, 3, 4].map(createId),
      reads,
      confirm: true,
    })
    expect(end).toMatchObject({
      thrown: { code: 'usage', message: expect.stringContaining('another organisation') as string },
    })
    expect(calls).toEqual([createId(1), createId(2), createId(3)])
  })

  test('an error of the service halts the batch', async () => {
    expect((await checkOrganisation({ accepted: [createId(1)], reads: { [createId(1)]: down } })).end).toBe(
      down,
    )
  })

  test('Ctrl-C and unexpected errors are thrown', async () => {
    const world = { accepted: [createId(1)], reads: { [createId(1)]: down } }
    expect((await checkOrganisation({ ...world, signal: AbortSignal.abort() })).end).toEqual({ thrown: down })
    const signal = new AbortController().signal
    expect((await checkOrganisation({ ...world, signal })).end).toBe(down)
    const surprise = new TypeError('a fault of ours')
    expect(
      (await checkOrganisation({ accepted: [createId(1)], reads: { [createId(1)]: surprise } })).end,
    ).toEqual({
      thrown: surprise,
    })
  })
})

describe('a batch without accepted requests', () => {
  test('is sent by its owner without a question', async () => {
    expect(await checkOrganisation({})).toEqual({ end: undefined, calls: [] })
  })

  test('is sent if its owner is among the users of the key', async () => {
    const world = { userEmail: 'starter@example.com', users: ['a@example.com', 'Starter@example.com'] }
    expect(await checkOrganisation(world)).toEqual({ end: undefined, calls: ['users'] })
  })

  test('needs a confirmation otherwise', async () => {
    const ownerLeft = { userEmail: 'starter@example.com', users: ['a@example.com'] }
    const { end, calls } = await checkOrganisation({ ...ownerLeft, confirm: true })
    expect({ end, calls }).toEqual({ end: undefined, calls: ['users', 'a person about the-batch'] })
    expect((await checkOrganisation({ ...ownerLeft, confirm: false })).end).toMatchObject(refused)
    expect((await checkOrganisation(ownerLeft)).end).toMatchObject(refused)
  })

  test('an error of the service halts the batch', async () => {
    expect((await checkOrganisation({ userEmail: 'starter@example.com', users: down })).end).toBe(down)
  })
})
