import type { Ledger } from '../../../src/store/ledger/ledger.ts'

/** Returns the methods of a ledger as plain functions, so that a test can replace some of them. */
export function bindLedger(real: Ledger): Ledger {
  return {
    location: real.location,
    acquire: (batch) => real.acquire(batch),
    recover: (at) => real.recover(at),
    previewConflict: (batch, guard) => real.previewConflict(batch, guard),
    findNamesake: (batch) => real.findNamesake(batch),
    add: (batch, guard) => real.add(batch, guard),
    move: (from, change) => real.move(from, change),
    beginInQuota: (from, attempt, setup) => real.beginInQuota(from, attempt, setup),
    moveRequest: (holder, loss, from, change) => real.moveRequest(holder, loss, from, change),
    moveAndBegin: (from, change, next, attempt, setup) =>
      real.moveAndBegin(from, change, next, attempt, setup),
    acknowledge: (...args) => real.acknowledge(...args),
    recordStatus: (...args) => real.recordStatus(...args),
    addLostPerson: (...args) => real.addLostPerson(...args),
    personMatch: (row, person) => real.personMatch(row, person),
    isEmailOf: (row, email) => real.isEmailOf(row, email),
    clockAheadMs: (now) => real.clockAheadMs(now),
    list: (filter) => real.list(filter),
    findReturnedToPending: (batchId) => real.findReturnedToPending(batchId),
  }
}
