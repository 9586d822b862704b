import type { Arrival, Move, TableDigest } from '../../domain/store/moving.ts'
import type { Row, Table } from './tables.ts'

/** All that a store knows at one moment. */
export interface Rows {
  /** Page by page, in the order that the table has. */
  read(table: Table): AsyncIterable<readonly Row[]>
  /** The highest number that an event ever had; 0 for none. */
  newestEvent(): Promise<number>
}

/** A place that is being filled. */
export interface NewRows extends Rows {
  add(table: Table, rows: readonly Row[]): Promise<void>
  /** Later events have higher numbers than this. */
  setNewestEvent(number: number): Promise<void>
}

/** A store on its way from one place to another. */
export interface Moving {
  readonly location: string
  /** Undefined for a store that stays where it is. */
  leaving(): Promise<Move | undefined>
  /** What it was filled from, if it was. */
  arrived(): Promise<Arrival | undefined>
  /**
   * Closes it for all who use it: from then on nothing is added, and who tries is told where it goes. Throws IoError
   * where an order is in flight.
   */
  beginToLeave(move: Move): Promise<void>
  /** Takes that back, unless it has left meanwhile. */
  stay(move: Move): Promise<void>
  /** Reads it while nobody writes; it has left once `work` is done. Throws IoError where the move was taken back. */
  leave(move: Move, work: (rows: Rows) => Promise<void>): Promise<void>
  /**
   * Fills it with all of another store, or with nothing: what both places then read is compared before it counts. Its list
   * of attempts is begun too.
   */
  fill(rows: Rows, arriving: Omit<Arrival, 'tables'>): Promise<TableDigest[]>
}
