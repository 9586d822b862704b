import type { Recipient } from '../../contract/request-body.ts'
import type { Whom } from '../../domain/batch/fit.ts'
import type { QuotaPlace } from '../../domain/quota/place.ts'
import type { Change } from '../../domain/submission/change.ts'
import type { Stop } from '../../domain/submission/match.ts'
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
  /** Whether its connection was lost and another took it meanwhile; never where nothing is said. */
  isLost?(): boolean
}

/** What a person allowed along with a new order. */
export interface AddGuard {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Orders that the person was shown, and said of each that it is no reason to stop; kept as releases. */
  shown?: readonly RowVersion[] | undefined
}

/** What came of a row's turn: an attempt, a wait for the quota, or what stood in its way, which is journaled. */
export interface Begun {
  waitMs: number
  attempt: Attempt | undefined
  stop: Stop | undefined
  /** The row that it is about, where that is another than was asked for. */
  row?: number | undefined
  /** Another runner has the row. */
  taken?: boolean | undefined
  /** The outcome of another runner's order is unknown: ask the service whether it is well before anything else goes out. */
  paused?: boolean | undefined
}

/** What came of a change, and of the turn of the row after it. */
export interface MovedAndBegun extends Pick<Begun, 'attempt' | 'stop' | 'row'> {
  moved: boolean
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
   * Adds a batch with its rows, `pending`, unless an order stands in the way of one of them: then nothing is added
   * and that is returned (domain/submission/match). Look and insertion are one step for all processes.
   */
  add(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined>

  /** What would stand in the way of `add`, with nothing added. */
  look(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined>

  /**
   * `pending → sending`: journals one attempt. Undefined where the row no longer stands as `from` says, or is
   * `duplicate` or `held` from now on: it is compared once more in the same transaction.
   */
  begin(from: RowVersion, attempt: NewAttempt): Promise<Attempt | undefined>

  /**
   * The same with a place in the quota, in one commit; without one nothing is done but to say how long to wait. `orNext`:
   * where runners share the batch, whichever pending row of it nobody else has.
   */
  beginInQuota(from: RowVersion, attempt: NewAttempt, place: QuotaPlace, orNext?: boolean): Promise<Begun>

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
    orNext?: boolean,
  ): Promise<MovedAndBegun>

  /** Whom a row was for against a person, by its fingerprints alone: of one whose name is gone. */
  whom(row: Pick<RowVersion, 'batchId' | 'row'>, person: Recipient): Promise<Whom>

  /** Keeps what a read told of an accepted request: its status, and its checks. A terminal status is never replaced. */
  recordStatus(requestId: string, status: string, at: number, checks?: string): Promise<void>

  /** In the order they were added. */
  list(filter: SubmissionFilter): Promise<Submission[]>
}
