import type { MergedCells } from '../../domain/sheet/cell.ts'
import type { LostPart } from '../../domain/sheet/look.ts'
import type { Findings } from '../book/book.ts'
import type { Relation } from './parts.ts'

/** Elements of a sheet that are not written again. */
const lostElements = new Map<string, LostPart>([
  ['conditionalFormatting', 'conditional formats'],
  ['dataValidations', 'data validations'],
  ['autoFilter', 'filters'],
  ['tablePart', 'tables'],
  ['drawing', 'pictures'],
  ['picture', 'pictures'],
  ['hyperlink', 'links'],
])

/** Notes what of a sheet is not written again. */
export function noteLook(found: Findings, tag: string): void {
  const lost = lostElements.get(tag)
  if (lost !== undefined) found.lost.add(lost)
}

/** A workbook keeps the comments of a sheet in a part of its own. */
export function noteComments({ lost }: Findings, related: ReadonlyMap<string, Relation>): void {
  for (const { type } of related.values())
    if (/\/(?:comments|threadedComment)$/.test(type)) lost.add('comments')
}

/** The cells of a range such as `B2:C9`; undefined where it is none. */
export function rangeOf(range: string): MergedCells | undefined {
  const corners = /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/.exec(range)
  if (corners === null) return undefined
  const [, left = '', top = '', right = left, bottom = top] = corners
  return {
    range,
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: columnAt(left),
    lastColumn: columnAt(right),
  }
}

/** A → 0, AA → 26. */
function columnAt(letters: string): number {
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}
