import type { Api } from '../../src/api/api.ts'
import type { Clock } from '../../src/host/clock.ts'
import type { Batches } from '../../src/store/ledger/batches.ts'
import type { Ledger } from '../../src/store/ledger/ledger.ts'
import type { Attempt, RowVersion } from '../../src/domain/submission/submission.ts'

/** The parts of a simulated process that a mutant may replace. */
export interface ReplaceableParts {
  api: Api
  ledger: Ledger
  batches: Pick<Batches, keyof Batches>
  clock: Clock
  /** `undo` is called when the process is killed, to revert what a power cut would lose. */
  onKill: (undo: () => Promise<void>) => void
}

/** Replaces parts of a process by wrong ones. */
export type Mutant = (parts: ReplaceableParts) => ReplaceableParts

/** The program without a mutation. */
export const noMutation: Mutant = (parts) => parts

const resendDecision = { by: 'a mutant', why: 'sent again without proof' }

async function moveBackToPending(
  { ledger, clock }: ReplaceableParts,
  rows: readonly RowVersion[],
): Promise<void> {
  for (const row of rows) {
    await ledger.move(
      { ...row, state: 'unknown' },
      { to: 'pending', at: clock.now(), reason: 'again', decision: resendDecision },
    )
  }
}

/** Each mutant breaks one rule of src/docs/ordering.md. The simulation has to detect every one. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'resend after a crash': (parts) => ({
    ...parts,
    ledger: {
      ...parts.ledger,
      async recover(at) {
        const unknownRows = await parts.ledger.recover(at)
        await moveBackToPending(parts, unknownRows)
        return []
      },
    },
  }),

  'journal after sending': (parts) => {
    const delayedAttempts = new Map<string, Parameters<Ledger['beginInQuota']>>()
    const ledger: Ledger = {
      ...parts.ledger,
      async beginInQuota(from, attempt, target) {
        delayedAttempts.set(attempt.attemptId, [from, attempt, target])
        let body: Uint8Array = new Uint8Array()
        for await (const each of parts.batches.bodies(from.batchId, { after: from.row - 1, limit: 1 }))
          ({ body } = each)
        const { batchId, row } = from
        return {
          waitMs: 0,
          attempt: { batchId, row, ...attempt, state: 'sending', body },
          conflict: undefined,
        }
      },
      async move(from, change) {
        const beginArguments = delayedAttempts.get(from.attemptId ?? '')
        if (beginArguments !== undefined && from.state === 'sending')
          await parts.ledger.beginInQuota(...beginArguments)
        return parts.ledger.move(from, change)
      },
      async moveAndBegin(from, change) {
        return { isMoved: await ledger.move(from, change), attempt: undefined, conflict: undefined }
      },
    }
    return { ...parts, ledger }
  },

  // A power cut loses the last commit if no fsync has followed it.
  'NORMAL instead of FULL': (parts) => {
    let lastAttempt: Attempt | undefined
    parts.onKill(async () => {
      if (lastAttempt !== undefined)
        await parts.ledger.move(lastAttempt, {
          to: 'pending',
          at: parts.clock.now(),
          reason: 'never written',
        })
    })
    return {
      ...parts,
      ledger: {
        ...parts.ledger,
        async beginInQuota(from, attempt, target) {
          const claim = await parts.ledger.beginInQuota(from, attempt, target)
          lastAttempt = claim.attempt
          return claim
        },
        async moveAndBegin(from, change, next, attempt, target) {
          const result = await parts.ledger.moveAndBegin(from, change, next, attempt, target)
          lastAttempt = result.attempt
          return result
        },
      },
    }
  },

  'retry on 5xx': (parts) => ({
    ...parts,
    api: {
      ...parts.api,
      async createRequest(body, signal) {
        const answer = await parts.api.createRequest(body, signal)
        const isServerError = answer.kind === 'answered' && answer.status >= 500
        return isServerError ? parts.api.createRequest(body, signal) : answer
      },
    },
  }),

  'reuse of keep-alive connections': (parts) => {
    // A server closes an idle connection; a request that is sent on it is lost, and the client does not
    // detect it.
    let lastUsedAt = Number.NEGATIVE_INFINITY
    return {
      ...parts,
      api: {
        ...parts.api,
        async createRequest(body, signal) {
          const idleMs = parts.clock.monotonic() - lastUsedAt
          lastUsedAt = parts.clock.monotonic()
          if (idleMs > 900 && Number.isFinite(idleMs)) {
            const lostAnswer = await parts.api.createRequest(new Uint8Array(), signal)
            return {
              kind: 'lost',
              error: lostAnswer.kind === 'lost' ? lostAnswer.error : connectionClosedError,
            } as typeof lostAnswer
          }
          return parts.api.createRequest(body, signal)
        },
      },
    }
  },

  'lease expiry back to pending': (parts) => ({
    ...parts,
    batches: { ...parts.batches, acquire: async () => ({ release: () => Promise.resolve() }) },
    ledger: {
      ...parts.ledger,
      async recover(at) {
        // The rows of a slow runner are treated as if the runner had been killed.
        const sending = await parts.ledger.list({ states: ['sending'] })
        for (const row of sending) {
          await parts.ledger.move(row, { to: 'pending', at, reason: 'its lease is over' })
        }
        return parts.ledger.recover(at)
      },
    },
  }),
}

const connectionClosedError = new Error('the connection was closed')
