import { type Compared, releasable, sharesOnly, type Stop, type StopReason } from './match.ts'

/** What a person says may be sent after all. */
export type Release =
  | { kind: 'rows'; rows: readonly number[] }
  /** An e-mail or phone, as `sharedKey` has it. */
  | { kind: 'shared'; value: string }
  /** All that are merely similar. */
  | { kind: 'all' }

/** Why a row is held, and the order it is listed with. */
export interface Shown {
  heldFor: StopReason | undefined
  batchId: string | undefined
  row: number | undefined
}

/**
 * What of that which stands in a held row's way a release covers; undefined where it is not about the row. "A release
 * covers the matches that were shown": of a row by its number that is the one it is listed with.
 */
export function coveredBy(
  release: Release,
  row: Compared,
  stops: readonly Stop[],
  shown: Shown,
): readonly Stop[] | undefined {
  const isShown = ({ order }: Stop): boolean =>
    release.kind !== 'rows' || (order.batchId === shown.batchId && order.row === shown.row)
  const covered = stops.filter((stop) => covers(release, row, stop) && isShown(stop))
  if (release.kind === 'rows' && release.rows.includes(row.row)) return covered
  // Nothing tells whether it was sent, so it is named or is one of all.
  const isAbout =
    shown.heldFor === 'store_forgot' ? release.kind === 'all' : covered.length > 0 || stops.length === 0
  return isAbout ? covered : undefined
}

/** Whether a release covers what stands in a row's way; the rest waits for something to be settled first. */
function covers(release: Release, { row, recipient }: Compared, stop: Stop): boolean {
  if (!releasable.includes(stop.reason)) return false
  if (release.kind === 'rows') return release.rows.includes(row)
  if (stop.reason !== 'similar') return false
  return release.kind === 'all' || sharesOnly(recipient, stop.shares, [release.value])
}
