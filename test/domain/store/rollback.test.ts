import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { Head, LogEntry } from '../../../src/domain/store/attempt-log.ts'
import {
  compareGeneration,
  findEpochChange,
  type ComparedLog,
  detectRollback,
  type Fence,
  findFenceFailure,
  type KnownHeads,
  addKnownHead,
  recoverEntry,
  type StoreFacts,
} from '../../../src/domain/store/rollback.ts'
import { type SubmissionState, submissionStates } from '../../../src/domain/submission/states.ts'

const createHead = (account: string, number: number, attemptId: string): Head => ({
  account,
  number,
  attemptId,
})

const createEntry = (
  number: number,
  { generation = 'g2', at = number }: Partial<LogEntry> = {},
): LogEntry => ({
  kind: 'entry',
  ...createHead('acme', number, `a${number}`),
  generation,
  at,
  batchId: 'b',
  row: 1,
  baseUrl: 'http://127.0.0.1',
  userEmail: 'o@example.com',
  packageId: 102,
  relatedIds: [],
  person: 'p',
  email: 'e',
  phone: 'f',
})

const store: StoreFacts = {
  generations: { current: 'g2', former: ['g1'] },
  isBackup: false,
  change: undefined,
  isReporting: false,
  requiresLog: true,
  hasAttempts: true,
  missingLogs: 0,
}

const log: ComparedLog = {
  isRegistered: true,
  hasSameKey: true,
  isDamaged: false,
  isMoved: false,
  generations: ['g2'],
  missing: [],
  lacksHead: false,
  notedIds: [],
}

describe('known heads', () => {
  const collectKnownHeads = (...heads: Head[]): Head[] => {
    const known: KnownHeads = new Map()
    for (const each of heads) addKnownHead(known, each)
    return [...known.values()].flat()
  }

  test('the highest number of each account is known, in whatever order heads are read', () => {
    const heads = [
      createHead('a', 3, 'x'),
      createHead('b', 1, 'y'),
      createHead('a', 5, 'z'),
      createHead('a', 4, 'w'),
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(heads, { minLength: heads.length }), (shuffledHeads) => {
        expect(new Set(collectKnownHeads(...shuffledHeads, ...shuffledHeads))).toEqual(
          new Set([heads[1], heads[2]]),
        )
      }),
    )
  })

  test('two attempts with the same number are both known heads, because no store has both', () => {
    expect(
      collectKnownHeads(createHead('a', 3, 'x'), createHead('a', 3, 'y'), createHead('a', 3, 'x')),
    ).toEqual([createHead('a', 3, 'x'), createHead('a', 3, 'y')])
  })
})

test.each<[Partial<Fence>, ReturnType<typeof findFenceFailure>]>([
  [{}, undefined],
  [{ hasHeads: false }, 'head'],
  [{ generation: 'g3', hasHeads: false }, 'generation'],
  [{ isSameEpoch: false, generation: 'g3' }, 'epoch'],
  [{ isOpen: false, isSameEpoch: false }, 'closed'],
])('a claim with the fence %j fails with %s', (found, failure) => {
  const sound: Fence = { isOpen: true, isSameEpoch: true, generation: 'g2', hasHeads: true }
  expect(findFenceFailure({ ...sound, ...found }, 'g2')).toBe(failure)
})

test.each([
  [{}, undefined],
  [{ timeline: '2' }, 'server'],
  [{ system: 't' }, 'server'],
  [{ table: '9' }, 'restored'],
  [{ database: '9', system: 't' }, 'restored'],
] as const)('a database whose epoch differs by %j is %s', (difference, change) => {
  const before = { system: 's', timeline: '1', database: '5', table: '7' }
  expect(findEpochChange(before, { ...before, ...difference })).toBe(change)
})

test('a generation is compared as the same, former or unknown', () => {
  expect(['g2', 'g1', 'g3'].map((each) => compareGeneration(each, store.generations))).toEqual([
    'same',
    'former',
    'unknown',
  ])
})

describe('detecting a rollback', () => {
  test.each<[string, Partial<StoreFacts>, Partial<ComparedLog>[], string[]]>([
    ['an unchanged store', {}, [{}], []],
    ['a store without attempts and without a log', { hasAttempts: false }, [], []],
    ['an entry that the store lacks', {}, [{ missing: [createEntry(1)] }], ['older']],
    ['a noted head that the store lacks', {}, [{ lacksHead: true }], ['older']],
    ['a generation that the store does not know', {}, [{ generations: ['g2', 'g3'] }], ['generation']],
    [
      'a store without attempts at the path of another one',
      { hasAttempts: false },
      [{ generations: ['g3'], isRegistered: false, missing: [createEntry(1, { generation: 'g3' })] }],
      ['replaced', 'older'],
    ],
    [
      'the log of a store with another key at the same path',
      {},
      [{}, { hasSameKey: false, isRegistered: false, missing: [createEntry(1)] }],
      ['replaced'],
    ],
    [
      'a store whose key differs from that of its own log',
      { requiresLog: false },
      [{ hasSameKey: false, missing: [createEntry(1)] }],
      ['key'],
    ],
    ['a log of another store in which nothing was ordered', {}, [{}, { hasSameKey: false }], []],
    ['a log whose store was moved', {}, [{ isMoved: true }], ['generation']],
    ['a damaged log', {}, [{ isDamaged: true }], ['log_damaged']],
    ['a backup opened as a store', { isBackup: true }, [{}], ['backup']],
    ['a file with attempts and no log', {}, [], ['log_missing']],
    ['a database with attempts and no log of this machine', { requiresLog: false }, [], []],
    ['a registered log of this machine that is gone', { missingLogs: 1 }, [{}], ['log_missing']],
    ['another server', { change: 'server' }, [{ missing: [createEntry(1)], lacksHead: true }], ['server']],
    ['a restored database', { change: 'restored' }, [{}], ['restored']],
    ['a store that waits for reports', { isReporting: true }, [{ missing: [createEntry(1)] }], []],
    ['entries of a former generation', {}, [{ missing: [createEntry(1, { generation: 'g1' })] }], []],
  ])('%s', (_, facts, logs, reasons) => {
    const found = detectRollback(
      { ...store, ...facts },
      logs.map((each) => ({ ...log, ...each })),
    )
    expect(found.reasons).toEqual(reasons)
  })

  test('an entry that several logs have and the store lacks is recovered once, in the order of the attempts', () => {
    const [one, two, three] = [
      createEntry(2, { at: 9 }),
      createEntry(3, { at: 5 }),
      createEntry(4, { generation: 'g1', at: 5 }),
    ]
    const logs = [
      { ...log, missing: [one, two] },
      { ...log, missing: [three, { ...one }] },
    ]
    expect(detectRollback(store, logs).missing).toEqual([two, three, one])
  })

  /** Histories in which a store commits attempts, some are not logged, and a copy of the store may be restored. */
  const histories = fc.record({
    attempts: fc.integer({ min: 0, max: 12 }),
    unlogged: fc.uniqueArray(fc.nat({ max: 12 })),
    copiedAt: fc.nat({ max: 12 }),
    isRestored: fc.boolean(),
  })

  test('a store is closed exactly if it lacks a logged attempt, and not if an attempt was not logged', () => {
    fc.assert(
      fc.property(histories, ({ attempts, unlogged, copiedAt, isRestored }) => {
        const numbers = Array.from({ length: attempts }, (_, at) => at + 1)
        const logged = numbers.filter((number) => !unlogged.includes(number))
        const known = new Set(isRestored ? numbers.slice(0, copiedAt) : numbers)
        const missing = logged.filter((number) => !known.has(number)).map((number) => createEntry(number))
        const { reasons } = detectRollback({ ...store, hasAttempts: known.size > 0 }, [{ ...log, missing }])
        expect(reasons).toEqual(missing.length > 0 ? ['older'] : [])
        // Comparing only the heads has the same result as comparing every entry.
        const heads: KnownHeads = new Map()
        for (const number of logged) addKnownHead(heads, createEntry(number))
        const hasHeads = [...heads.values()].flat().every(({ number }) => known.has(number))
        expect(hasHeads).toBe(missing.length === 0)
      }),
    )
  })
})

describe('an entry that the store lacks', () => {
  const recover = (
    outcome: { state: SubmissionState; requestId?: string } | undefined,
    row?: SubmissionState,
    isTaken = false,
  ) =>
    recoverEntry(
      outcome && { requestId: undefined, ...outcome },
      row && { state: row, attemptId: 'other' },
      isTaken,
    )

  test.each<[string, ReturnType<typeof recover>, [string, string]]>([
    ['is unknown without an outcome in its log', recover(undefined), ['named row', 'unknown']],
    [
      'is accepted if its log has the request',
      recover({ state: 'accepted', requestId: 'r' }, 'pending'),
      ['named row', 'accepted'],
    ],
    [
      'is unknown if another row has that request',
      recover({ state: 'accepted', requestId: 'r' }, 'pending', true),
      ['named row', 'unknown'],
    ],
    ['is rejected', recover({ state: 'rejected' }, 'pending'), ['named row', 'rejected']],
    ['is a separate row next to an accepted one', recover(undefined, 'accepted'), ['own row', 'unknown']],
    ['is a separate row next to one in flight', recover(undefined, 'sending'), ['own row', 'unknown']],
    ['was never sent, and its row is gone', recover({ state: 'pending' }), ['named row', 'cancelled']],
  ])('%s', (_, found, [target, state]) => {
    expect(found).toMatchObject({ target, state })
  })

  test('changes no row if it was never sent', () => {
    expect(recover({ state: 'pending' }, 'pending')).toBe('attempt alone')
  })

  test.each(['unknown', 'dropped'] as const)(
    'that was rejected does not change a row whose other attempt may have ordered: %s',
    (state) => {
      expect(recover({ state: 'rejected' }, state)).toBe('attempt alone')
    },
  )

  test('is a possible duplicate if another attempt ordered its row, unless it was rejected', () => {
    expect(recover({ state: 'accepted', requestId: 'r' }, 'accepted')).toMatchObject({
      isPossibleDuplicate: true,
      requestId: 'r',
    })
    expect(recover({ state: 'rejected' }, 'sending')).toMatchObject({ isPossibleDuplicate: false })
    expect(recover(undefined, 'held')).toMatchObject({ isPossibleDuplicate: false })
  })

  test('never lets a person who may have been ordered be ordered again', () => {
    const mayBeSent = [undefined, ...submissionStates.filter((state) => state !== 'pending')]
    fc.assert(
      fc.property(
        fc.constantFrom(...mayBeSent),
        fc.constantFrom(undefined, ...submissionStates),
        fc.boolean(),
        (state, row, isTaken) => {
          const found = recover(state && { state, requestId: 'r' }, row, isTaken)
          const expected = state === 'rejected' ? ['rejected', 'attempt alone'] : ['accepted', 'unknown']
          expect(expected).toContain(found === 'attempt alone' ? found : found.state)
        },
      ),
    )
  })
})
