import type { Stops } from '../../domain/batch/stops.ts'
import type { Recipient } from '../../contract/request-body.ts'
import type { StopReason } from '../../domain/submission/match.ts'
import type { Release } from '../../domain/submission/release.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Witness } from '../../domain/submission/witness.ts'

/** A row that a move may take along. */
export interface Movable {
  row: number
  state: SubmissionState
  packageId: number
  recipient: Recipient | undefined
  body: Uint8Array
}

/** What a release came to. */
export interface Released {
  /** Pending from now on. */
  rows: number[]
  /** Rows that it names and that wait on, with why. */
  left: { row: number; reason: StopReason }[]
}

/** Rows that wait until something is settled or said, and what was said of packages and services. */
export interface Waiting {
  /** Compares the held rows and the duplicates of a batch again: what stood in their way may do no more. How many changed. */
  lookAgain(batchId: string, at: number): Promise<number>

  /** What results files say of its rows that wait is heard no more; `lookAgain` comes after. */
  ignoreResults(batchId: string): Promise<void>

  /**
   * What results files say now of its rows that wait, by row; `files`: those that were read, by name. A row of which
   * somebody said that they say nothing is left alone. Pending rows are compared at once, the others by `lookAgain`.
   */
  hear(
    batchId: string,
    rows: ReadonlyMap<number, readonly Witness[]>,
    files: ReadonlySet<string>,
    at: number,
  ): Promise<void>

  /** What stands in the way of a batch's rows now. */
  stops(batchId: string): Promise<Stops>

  /** Held rows may be sent after all. It covers what they match now; who and when is kept. */
  release(batchId: string, release: Release, by: { at: number; by: string }): Promise<Released>

  /** A row that was not sent never is; whether there was one. */
  cancelRow(batchId: string, row: number, at: number, reason: string): Promise<boolean>

  /** What is left of a batch: pending, held, duplicate and rejected rows. */
  movable(batchId: string): Promise<Movable[]>

  /**
   * What is left goes on under another package, which is one with the old from then on. Rows that changed meanwhile are
   * left alone. All in one step; how many moved.
   */
  move(batchId: string, packageId: number, rows: readonly Movable[], at: number): Promise<number>

  /** Packages that are gone, each with its likely successor. */
  linkPackages(
    baseUrl: string,
    pairs: readonly (readonly [gone: number, successor: number])[],
    at: number,
  ): Promise<void>

  /** Whether two base URLs are one service; a person's word, which replaces an earlier one. */
  sayService(urls: readonly [string, string], same: boolean, by: { at: number; by: string }): Promise<void>
}
