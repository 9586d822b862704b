import {
  requireOtherAddress,
  requireUnused,
  requireSameTarget,
  storeMovedError,
  type Move,
  type TableDigest,
} from '../../domain/store/moving.ts'
import { findStoreError } from '../../domain/store/closing.ts'
import { NoAnswerError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Store } from '../../store/ledger/store.ts'
import type { Services } from '../services.ts'

export interface MoveOptions extends Pick<Services, 'clock' | 'random'> {
  oldStore: Store
  /** The new address as typed; undefined for a file, which is identified by its path. */
  address: string | undefined
  /** Called after all checks; throws if the user does not confirm. */
  confirm: () => Promise<void>
  /** Opens the new store and creates it if it does not exist. Called a second time once it is filled. */
  openNewStore: () => Promise<Store>
}

/** The result of a move that was verified. */
export interface MovedStore {
  from: string
  to: string
  /** The address of the new store that the user has to set from now on. */
  use: string
  tables: TableDigest[]
}

/**
 * Moves a whole store. The old store is closed before anything is copied, and stays closed; if the copy fails, it is
 * opened again. A move that was killed is continued by the next run: the new store is filled in one transaction,
 * which records the id of the move.
 */
export async function moveStore({
  oldStore,
  openNewStore,
  address,
  confirm,
  clock,
  random,
}: MoveOptions): Promise<MovedStore> {
  const source = await oldStore.openForMove()
  const earlierMove = await source.readMove()
  if (earlierMove?.isDone === true) throw storeMovedError(oldStore.location, earlierMove)
  if (earlierMove === undefined) await requireIdle(oldStore, clock)
  await confirm()
  const newStore = await openNewStore()
  requireOtherAddress(oldStore.location, newStore.location)
  const newAddress = address ?? newStore.location
  requireSameTarget(oldStore.location, earlierMove, newAddress)
  const target = await newStore.openForMove()
  const move: Move = earlierMove ?? { id: random.uuid(), to: newAddress, isDone: false }
  // The record of the move that has filled the new store, if an earlier run got that far.
  const arrival = await target.readArrival()
  let tables = arrival?.id === move.id ? arrival.tables : undefined
  if (earlierMove === undefined) await source.closeForMove(move)
  try {
    await source.copyAndCloseAsMoved(move, async (rows) => {
      tables ??= await target.fillFrom(rows, { id: move.id, from: oldStore.location })
    })
  } catch (error) {
    if (error instanceof NoAnswerError || tables !== undefined) throw error
    // If this read fails too, the old store stays closed, and the next run of the command finds out whether the new
    // store was filled.
    const newArrival = await target.readArrival()
    if (newArrival?.id !== move.id) await source.cancelMove(move)
    throw error
  }
  await requireOpen(await openNewStore())
  return { from: oldStore.location, to: newStore.location, use: newAddress, tables: tables ?? [] }
}

/** Throws unless the store is idle: no process sends or forwards, and no row is being sent. */
async function requireIdle(store: Store, clock: Pick<Clock, 'now'>): Promise<void> {
  await requireOpen(store)
  await store.ledger.recover(clock.now())
  const batches = await store.batches.list({ includesSingleOrders: true })
  const runner = batches.find(({ holder }) => holder !== undefined)?.holder
  const inFlight = batches.filter(
    ({ kind, counts }) => counts.sending > 0 || (kind === 'single' && counts.pending > 0),
  )
  const forwarding = await store.inbox.leaseForwarding()
  await forwarding?.release()
  requireUnused(store.location, {
    inFlight: inFlight.length,
    holder: runner && `process ${runner.pid}${runner.machine === undefined ? '' : ` on ${runner.machine}`}`,
    isForwarding: forwarding === undefined,
  })
}

/** Throws if the store is closed, or is found to lack attempts that the attempt logs have. */
async function requireOpen({ rollbacks, location }: Store): Promise<void> {
  const noDamage: readonly string[] = []
  const failure = findStoreError(location, noDamage, await rollbacks.examine())
  if (failure !== undefined) throw failure
}
