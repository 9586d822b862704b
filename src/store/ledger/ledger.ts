import type { QuotaPlace } from '../../domain/quota/place.ts'
import type { Change } from '../../domain/submission/change.ts'
import type {
  Attempt,
  BatchRef,
  NewAttempt,
  NewBatch,
  RowVersion,
  Submission,
  SubmissionFilter,
} from '../../domain/submission/submission.ts'

/** The right to run one batch. It ends with the process that has it, however that ends. */
export interface Hold {
  release(): Promise<void>
}

/**
 * The journal of every order. What a method has answered is on disk: it survives the process and a
 * power cut. A failure of the disk throws IoError, and everything after it does too: a commit that
 * failed is never tried again.
 */
export interface Ledger {
  /** An absolute path, or ":memory:". */
  readonly location: string

  /** Makes this process the one that may run a batch; undefined where another one holds it. Comes before `add`. */
  hold(batch: BatchRef): Promise<Hold | undefined>

  /**
   * Ends what nobody holds any more: a submission in `sending` becomes `unknown`, and is returned; a
   * `single` still `pending` becomes `cancelled`, since nothing of it left and nobody will go on with it.
   */
  recover(at: number): Promise<Submission[]>

  /**
   * Adds a batch with its rows, `pending`, unless one of them was ordered before: then nothing is added
   * and the order that stands in the way is returned. Look and insertion are one step for all
   * processes. With `allowDuplicate` only an order whose outcome is not known yet (`sending`,
   * `unknown`) stands in the way.
   */
  add(batch: NewBatch, guard: { allowDuplicate: boolean }): Promise<Submission | undefined>

  /** `pending → sending`: journals one attempt. Undefined where the row no longer stands as `from` says. */
  begin(from: RowVersion, attempt: NewAttempt): Promise<Attempt | undefined>

  /** The same with a place in the quota, in one commit; without one nothing is done but to say how long to wait. */
  beginInQuota(
    from: RowVersion,
    attempt: NewAttempt,
    place: QuotaPlace,
  ): Promise<{ waitMs: number; attempt: Attempt | undefined }>

  /** Any other change; whether it took. `accepted` does not where another order has that request. */
  move(from: RowVersion, change: Change): Promise<boolean>

  /**
   * A change and, if it took, the next row's `pending → sending`, in one commit: half the fsyncs, the same
   * order. `attempt` is undefined where the next row no longer stands as `next` says, or has no
   * place in the quota yet.
   */
  moveAndBegin(
    from: RowVersion,
    change: Change,
    next: RowVersion,
    attempt: NewAttempt,
    place: QuotaPlace,
  ): Promise<{ moved: boolean; attempt: Attempt | undefined }>

  /** Keeps what a read told of an accepted request. A terminal status is never replaced. */
  recordStatus(requestId: string, status: string, at: number): Promise<void>

  /** In the order they were added. */
  list(filter: SubmissionFilter): Promise<Submission[]>
}
