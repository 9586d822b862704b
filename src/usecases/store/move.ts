import {
  requireOtherAddress,
  requireQuiet,
  requireSameWay,
  storeMoved,
  type Move,
  type TableDigest,
} from '../../domain/store/moving.ts'
import { unsoundStoreError } from '../../domain/store/closing.ts'
import { NoAnswerError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Store } from '../../store/ledger/store.ts'
import type { Services } from '../services.ts'

export interface MoveOptions extends Pick<Services, 'clock' | 'random'> {
  from: Store
  /** The new place as it was typed; undefined for a file, which is named by its path. */
  address: string | undefined
  /** Asked once nothing is in the way. */
  confirm: () => Promise<void>
  /** Made where there is none; opened for the second time once it is filled. */
  openTo: () => Promise<Store>
}

/** What was moved, and proved. */
export interface MovedStore {
  from: string
  to: string
  /** What names the new place from now on. */
  use: string
  tables: TableDigest[]
}

/**
 * Moves a whole store. It is closed before anything is copied, and stays so; one that could not be copied is open again. A run
 * that was killed is continued by another: the new place is filled all at once, and says by which move.
 */
export async function moveStore({
  from,
  openTo,
  address,
  confirm,
  clock,
  random,
}: MoveOptions): Promise<MovedStore> {
  const source = await from.moving()
  const former = await source.leaving()
  if (former?.isDone === true) throw storeMoved(from.location, former)
  if (former === undefined) await requireReady(from, clock)
  await confirm()
  const to = await openTo()
  requireOtherAddress(from.location, to.location)
  const where = address ?? to.location
  requireSameWay(from.location, former, where)
  const target = await to.moving()
  const move: Move = former ?? { id: random.uuid(), to: where, isDone: false }
  const before = await target.arrived()
  let tables = before?.id === move.id ? before.tables : undefined
  if (former === undefined) await source.beginToLeave(move)
  try {
    await source.leave(move, async (rows) => {
      tables ??= await target.fill(rows, { id: move.id, from: from.location })
    })
  } catch (error) {
    if (error instanceof NoAnswerError || tables !== undefined) throw error
    // Where the new place cannot be asked whether it was filled, the same command finds out.
    const there = await target.arrived()
    if (there?.id !== move.id) await source.stay(move)
    throw error
  }
  await requireOpen(await openTo())
  return { from: from.location, to: to.location, use: where, tables: tables ?? [] }
}

/** No process orders with it or forwards, and it contains all that was ordered with it. */
async function requireReady(store: Store, clock: Pick<Clock, 'now'>): Promise<void> {
  await requireOpen(store)
  await store.ledger.recover(clock.now())
  const batches = await store.batches.list({ singles: true })
  const busy = batches.find(({ holder }) => holder !== undefined)?.holder
  const inFlight = batches.filter(
    ({ kind, counts }) => counts.sending > 0 || (kind === 'single' && counts.pending > 0),
  )
  const forwarding = await store.inbox.leaseForwarding()
  await forwarding?.release()
  requireQuiet(store.location, {
    inFlight: inFlight.length,
    holder: busy && `process ${busy.pid}${busy.machine === undefined ? '' : ` on ${busy.machine}`}`,
    isForwarding: forwarding === undefined,
  })
}

async function requireOpen({ rollbacks, location }: Store): Promise<void> {
  const failure = unsoundStoreError(location, [], await rollbacks.examine())
  if (failure !== undefined) throw failure
}
