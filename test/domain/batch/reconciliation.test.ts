import { expect, test, describe } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { requestIdsIn } from '../../../src/domain/webhook/read-event.ts'
import {
  nearMatchText,
  type Reconciliation,
  unreconciledError,
  fitsOtherSubmission,
  differencesToConfirm,
  findDifferences,
  type SentOrder,
  confirmationQuestion,
  requireSendable,
  requireUnsettled,
  answersHint,
} from '../../../src/domain/batch/reconciliation.ts'
import { batchRow, ann } from './rows.ts'
import { DuplicateError, InvalidInputError, UsageError } from '../../../src/errors/kinds.ts'

describe('evidence', () => {
  const toOrder = (row: number) => ({ ...batchRow({ row, state: 'unknown' }), packageId: 7 })
  const createResult = (changes: Partial<Reconciliation> = {}): Reconciliation => ({
    settled: [],
    ambiguous: [],
    open: [],
    readCount: 0,
    ...changes,
  })
  const request = { request_id: 'r-1' } as RequestResource

  test('unreconciledError returns undefined if no row is open or ambiguous', () => {
    expect(unreconciledError(createResult(), 'b-1')).toBeUndefined()
  })

  test('the error counts open and ambiguous rows, and its hint has the command for the first of them', () => {
    const result = createResult({
      open: [toOrder(2)],
      ambiguous: [{ submission: toOrder(3), requestIds: [], nearMatches: [] }],
    })
    expect(unreconciledError(result, undefined)).toMatchObject({ code: 'outcome_unknown' })
    expect(unreconciledError(result, undefined)?.message).toMatch(/^2 orders are /)
    expect(unreconciledError(createResult({ open: [toOrder(2)] }), 'b-9')?.message).toMatch(/^1 order is /)
    expect(unreconciledError(result, 'b-9')?.hint).toContain('refcheck batch reconcile b-9 --row 2 ')
    expect(unreconciledError(result, undefined)?.hint).toContain('refcheck batch reconcile b-1 --row 2 ')
  })

  test('a request that fits two rows proves neither', () => {
    const [one, two] = [toOrder(1), toOrder(2)]
    const fits = new Map([
      [one, [request]],
      [two, [request]],
    ])
    expect(fitsOtherSubmission(request, one, fits)).toBe(true)
    expect(fitsOtherSubmission(request, one, new Map([[one, [request]]]))).toBe(false)
  })

  test('a request is shown with the time of its creation', () => {
    const text = nearMatchText({ requestId: 'r-1', createdAt: '2026-11-20', differs: [] })
    expect(text).toMatch(/r-1.*2026-11-20/)
  })

  test('a request is shown with its differences, or as fitting if it has none', () => {
    const near = { requestId: 'r-1', createdAt: '2026-11-20T10:00:00Z' }
    expect(nearMatchText({ ...near, differs: [] })).toMatch(/, fits$/)
    expect(nearMatchText({ ...near, differs: ['time'] })).toMatch(/fits but for: created outside the time/)
  })
})

describe('a request that fits', () => {
  const recipient = {
    first_name: 'Ana',
    last_name: 'Silva',
    email: 'ana@example.com',
    phone: '+61400000001',
  }
  const attemptedAt = Date.UTC(2026, 10, 21, 9, 30)
  const changedAt = attemptedAt + 5_000
  const sent: SentOrder = {
    recipient,
    packageId: 102,
    userEmail: 'owner@example.com',
    attemptedAt,
    changedAt,
  }
  const minute = 60_000

  function toRequest(createdAt: number, changes: Partial<RequestResource> = {}): RequestResource {
    return {
      request_id: '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
      package_id: 102,
      status: 'RECEIVED',
      created_at: new Date(createdAt).toISOString(),
      requester: { email: 'OWNER@example.com' },
      recipient,
      checks: [],
      ...changes,
    }
  }

  describe('the interval in which a request fits', () => {
    const check = (createdAt: number, aheadMs?: number, sentOrder = sent) =>
      findDifferences(sentOrder, toRequest(createdAt), aheadMs)

    test('the interval starts one minute before the attempt', () => {
      expect(check(attemptedAt - minute)).toEqual([])
      expect(check(attemptedAt - minute - 1)).toEqual(['time'])
    })

    test('the interval ends one minute after the end of the attempt', () => {
      expect(check(changedAt + minute)).toEqual([])
      expect(check(changedAt + minute + 1)).toEqual(['time'])
    })

    test('an attempt without an end is assumed to have lasted ten minutes', () => {
      const orderWithoutEnd = { ...sent, changedAt: attemptedAt + 100 * minute }
      expect(check(attemptedAt + 11 * minute, undefined, orderWithoutEnd)).toEqual([])
      expect(check(attemptedAt + 11 * minute + 1, undefined, orderWithoutEnd)).toEqual(['time'])
    })

    test.each([-5 * minute, 5 * minute])('a known clock difference of %i ms moves the interval', (ahead) => {
      expect(check(attemptedAt + ahead - minute, ahead)).toEqual([])
      expect(check(changedAt + ahead + minute, ahead)).toEqual([])
      const [before, after] = [attemptedAt + Math.min(ahead, 0), changedAt + Math.max(ahead, 0)]
      expect(check(before - minute - 1, ahead)).toEqual(['time'])
      expect(check(after + minute + 1, ahead)).toEqual(['time'])
      // The clock may have been corrected since the attempt.
      expect(check(attemptedAt, ahead)).toEqual([])
      // A time between the two intervals does not fit.
      expect(check(attemptedAt + ahead / 2, ahead)).toEqual(['time'])
    })

    test('a clock difference of more than one day is ignored', () => {
      const day = 24 * 60 * minute
      expect(check(attemptedAt + day, day)).toEqual([])
      expect(check(attemptedAt + day + 1, day + 1)).toEqual(['time'])
    })

    test('a request whose time cannot be parsed does not fit', () => {
      expect(findDifferences(sent, { ...toRequest(attemptedAt), created_at: 'soon' })).toEqual(['time'])
    })

    test('no request fits a row that was never attempted', () => {
      expect(check(attemptedAt, 0, { ...sent, attemptedAt: undefined })).toEqual(['time'])
    })
  })

  describe('differences other than the time', () => {
    test.each<[string, Partial<RequestResource>, string[] | undefined]>([
      ['the same in another case', { recipient: { ...recipient, first_name: 'ANA' } }, []],
      ['a corrected phone', { recipient: { ...recipient, phone: '+61400000009' } }, ['person']],
      ['a new e-mail', { recipient: { ...recipient, email: 'ana@new.example' } }, ['person']],
      [
        'another first name with the same e-mail',
        { recipient: { ...recipient, first_name: 'Anne' } },
        ['person'],
      ],
      ['another package', { package_id: 103 }, ['package']],
      ['another requester', { requester: { email: 'member@example.com' } }, ['requester']],
      [
        'another person',
        {
          recipient: {
            first_name: 'Ben',
            last_name: 'Silva',
            email: 'ben@example.com',
            phone: '+61400000002',
          },
        },
        undefined,
      ],
    ])('%s', (_what, changes, expected) => {
      expect(findDifferences(sent, toRequest(attemptedAt, changes))).toEqual(expected)
    })

    test('no request fits a row whose recipient was erased', () => {
      expect(findDifferences({ ...sent, recipient: undefined }, toRequest(attemptedAt))).toBeUndefined()
    })
  })

  describe('an id that the provider has given', () => {
    const row = { ...sent, batchId: 'b-1', row: 2, state: 'unknown' as const, addedAt: 0, matches: undefined }

    test('is accepted without confirmation if its request fits', () => {
      expect(differencesToConfirm(row, toRequest(attemptedAt), [row], 0)).toEqual([])
    })

    test('needs confirmation if name, requester or time differ', () => {
      const changes = {
        recipient: { ...recipient, last_name: 'Sylva' },
        requester: { email: 'x@example.com' },
      }
      expect(differencesToConfirm(row, toRequest(attemptedAt - 5 * minute, changes), [], 0)).toEqual([
        'person',
        'requester',
        'time',
      ])
    })

    test.each<[string, Partial<RequestResource>, { batchId: string; row: number }[], string]>([
      ['of another package', { package_id: 103 }, [], 'invalid_input'],
      [
        'for another person',
        { recipient: { first_name: 'B', last_name: 'C', email: 'b@example.com', phone: '+1' } },
        [],
        'invalid_input',
      ],
      ['that another row has', {}, [{ batchId: 'b-1', row: 3 }], 'duplicate'],
      ['that another batch has', {}, [{ batchId: 'b-2', row: 2 }], 'duplicate'],
    ])('%s is refused', (_what, changes, holders, code) => {
      expect(() => differencesToConfirm(row, toRequest(attemptedAt, changes), holders, 0)).toThrow(
        expect.objectContaining({ code }),
      )
    })
  })

  test.each<[string, Partial<typeof recipient>, boolean]>([
    ['the e-mail', { first_name: 'X', last_name: 'Y', phone: '+1' }, true],
    ['the phone', { first_name: 'X', last_name: 'Y', email: 'x@y.example' }, true],
    ['the full name', { email: 'x@y.example', phone: '+1' }, true],
    ['the first name', { last_name: 'Y', email: 'x@y.example', phone: '+1' }, false],
    ['the last name', { first_name: 'X', email: 'x@y.example', phone: '+1' }, false],
  ])('differences of a request that shares only %s with the row', (_what, changes, isShown) => {
    const found = findDifferences(sent, toRequest(attemptedAt, { recipient: { ...recipient, ...changes } }))
    expect(found).toEqual(isShown ? ['person'] : undefined)
  })

  test('the case of the requester’s e-mail is ignored', () => {
    const upperCase = { ...sent, userEmail: 'OWNER@Example.com' }
    expect(
      findDifferences(upperCase, toRequest(attemptedAt, { requester: { email: 'owner@example.com' } })),
    ).toEqual([])
  })

  test('a row that was never attempted does not fit a request with the time 0 either', () => {
    expect(findDifferences({ ...sent, attemptedAt: undefined, changedAt: 0 }, toRequest(0))).toEqual(['time'])
  })

  test('an erased row is compared by the result of the fingerprints', () => {
    const erasedOrder = { ...sent, recipient: undefined }
    const compareAs = (...persons: Parameters<typeof findDifferences>[3][]) =>
      persons.map((each) => findDifferences(erasedOrder, toRequest(attemptedAt), 0, each))
    expect(compareAs('same', 'similar', 'unknown', 'other')).toEqual([[], ['person'], ['person'], undefined])
  })
})

describe('the request of an id that the user wants to record', () => {
  const time = Date.UTC(2026, 10, 20, 12)
  const row = { ...batchRow({ row: 2, state: 'unknown', attemptedAt: time, changedAt: time }), packageId: 7 }

  const toRequest = (changes: Partial<RequestResource> = {}): RequestResource => ({
    request_id: 'r-1',
    package_id: 7,
    status: 'RECEIVED',
    created_at: new Date(time).toISOString(),
    requester: { email: 'owner@example.com' },
    recipient: ann,
    checks: [],
    ...changes,
  })

  test('a request without differences is recorded without confirmation', () => {
    expect(differencesToConfirm(row, toRequest(), [], undefined)).toEqual([])
    expect(differencesToConfirm(row, toRequest(), [{ batchId: 'b-1', row: 2 }], undefined)).toEqual([])
  })

  test('differences have to be confirmed', () => {
    expect(
      differencesToConfirm(row, toRequest({ requester: { email: 'other@example.com' } }), [], undefined),
    ).toEqual(['requester'])
  })

  test('a request for another person or package, or that belongs to another order, is refused', () => {
    const otherPerson = { first_name: 'Bo', last_name: 'Ng', email: 'bo@example.com', phone: '+61499999999' }
    expect(() => differencesToConfirm(row, toRequest({ recipient: otherPerson }), [], undefined)).toThrow(
      InvalidInputError,
    )
    expect(() => differencesToConfirm(row, toRequest({ package_id: 8 }), [], undefined)).toThrow(
      InvalidInputError,
    )
    for (const other of [
      { batchId: 'b-1', row: 3 },
      { batchId: 'b-2', row: 2 },
    ]) {
      expect(() => differencesToConfirm(row, toRequest(), [other], undefined)).toThrow(DuplicateError)
    }
  })

  test('the confirmation question contains the request and the row', () => {
    const text = confirmationQuestion(row, toRequest({ recipient: { ...ann, first_name: 'Anne' } }), [
      'person',
    ])
    for (const part of ['r-1', 'Anne Lee', 'Ann Lee', '2026-11-20 12:00 +00:00']) expect(text).toContain(part)
    expect(confirmationQuestion({ ...row, recipient: undefined }, toRequest(), ['person'])).not.toContain(
      'undefined',
    )
  })

  test('the confirmation question contains the differences and the time of sending, or that it is unknown', () => {
    const other = toRequest({ requester: { email: 'other@example.com' } })
    const question = confirmationQuestion(row, other, ['requester'])
    expect(question).toContain('sent 2026-11-20')
    expect(question).toContain('Different: another requester.')
    expect(confirmationQuestion({ ...row, attemptedAt: undefined }, other, ['requester'])).toContain(
      'sent at an unknown time',
    )
  })
})

describe('a decision about an unknown row', () => {
  const minute = 60_000
  const unknownRow = batchRow({ state: 'unknown', attemptedAt: minute })

  test('is possible from exactly fifteen minutes after the attempt', () => {
    expect(() => requireSendable(unknownRow, 16 * minute - 1)).toThrow(UsageError)
    expect(() => requireSendable(unknownRow, 16 * minute)).not.toThrow()
  })

  test('the hint contains the remaining wait in whole minutes', () => {
    const hintAt = (now: number): string => {
      try {
        requireSendable(unknownRow, now)
      } catch (error) {
        return (error as UsageError).hint ?? ''
      }
      return ''
    }
    expect(hintAt(minute)).toContain('15 min')
    expect(hintAt(16 * minute - 1)).toContain('1 min')
  })

  test('the wait starts at the last change if the time of the attempt is unknown', () => {
    const row = { ...unknownRow, attemptedAt: undefined, changedAt: 0 }
    expect(() => requireSendable(row, 15 * minute - 1)).toThrow(UsageError)
    expect(() => requireSendable(row, 15 * minute)).not.toThrow()
  })

  test.each(['pending', 'sending', 'accepted', 'rejected', 'invalid', 'duplicate', 'cancelled'] as const)(
    'is refused for a row that is %s',
    (state) => {
      expect(() => requireSendable({ ...unknownRow, state }, 60 * minute)).toThrow(UsageError)
      expect(() => requireUnsettled({ ...unknownRow, state })).toThrow(/ is .*, not unknown: /)
    },
  )

  test('has to wait as long for a row without its recipient', () => {
    const row = { ...unknownRow, recipient: undefined }
    expect(() => requireSendable(row, 16 * minute - 1)).toThrow(UsageError)
    expect(() => requireSendable(row, 16 * minute)).not.toThrow()
  })

  test('needs no wait for recording a request and for dropping a row', () => {
    expect(() => requireUnsettled({ ...unknownRow, recipient: undefined })).not.toThrow()
  })
})

test('the hint contains a complete command for each answer of the provider', () => {
  const recipient = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+61412345678' }
  const row = { batchId: 'b-1', row: 2, recipient }
  const text = answersHint(row, recipient.email)
  for (const answer of ['--request-id UUID', '--confirm-email ann@example.com', '--drop']) {
    expect(text).toContain(`refcheck batch reconcile b-1 --row 2 ${answer}`)
  }
  expect(text).toContain('order it now (a new order)')
  expect(answersHint(row)).toContain('--confirm-email EMAIL')
})

test('the hint for a row without its recipient offers to close the row and not to order it', () => {
  const text = answersHint({ batchId: 'b-1', row: 2, recipient: undefined })
  expect(text).toContain(
    'close the row (nothing is sent; the person can then be ordered): refcheck batch reconcile b-1 --row 2 --confirm-email EMAIL',
  )
  expect(text).not.toContain('order it now')
})

const requestId = '11111111-1111-4111-8111-111111111111'
const event = { event: 'request.updated', request_id: requestId, status: 'PARTIAL' }

test.each([
  ['the event', event],
  ['a capture with the event as text', { body: JSON.stringify(event) }],
  ['a capture with the event as an object', { body: event }],
  ['a capture in base64', { body_base64: Buffer.from(JSON.stringify(event)).toString('base64') }],
])('an id is read from %s', (_form, line) => {
  expect(requestIdsIn(JSON.stringify(line), 'events')).toEqual([requestId])
})

test('each id is returned once, in lowercase; empty lines and CRLF are ignored', () => {
  const text = `${JSON.stringify(event)}\r\n\r\n${JSON.stringify({ ...event, request_id: requestId.toUpperCase() })}\n`
  expect(requestIdsIn(text, 'events')).toEqual([requestId])
  expect(requestIdsIn('', 'events')).toEqual([])
})

test.each(['x', '[]', 'null', '{}', '{"request_id":"1"}', '{"body":"x"}', '{"body_base64":"x"}'])(
  'a line without an id is refused with its line number: %s',
  (line) => {
    expect(() => requestIdsIn(`${JSON.stringify(event)}\n${line}`, 'events')).toThrow(InvalidInputError)
    expect(() => requestIdsIn(`${JSON.stringify(event)}\n${line}`, 'events')).toThrow(/^events: line 2 /)
  },
)
