import type { MergedCells } from '../../domain/sheet/cell.ts'
import type { LostPart } from '../../domain/sheet/look.ts'
import type { Findings } from '../book/book.ts'
import { limits } from '../limits.ts'
import type { Relation } from './parts.ts'
import type { Attributes } from './xml.ts'

/** Elements of a sheet that are not written again. */
const lostElements = new Map<string, LostPart>([
  ['conditionalFormatting', 'conditional formats'],
  ['dataValidations', 'data validations'],
  ['autoFilter', 'filters'],
  ['tablePart', 'tables'],
  ['drawing', 'pictures'],
  ['picture', 'pictures'],
])

/** Notes what a sheet looks like: what is kept, and what is not. */
export function noteLook(
  found: Findings,
  related: ReadonlyMap<string, Relation>,
  tag: string,
  attributes: Attributes,
): void {
  if (tag === 'hyperlink') return noteLink(found, related, attributes)
  const lost = lostElements.get(tag)
  if (lost !== undefined) found.lost.add(lost)
}

/** A workbook keeps the comments of a sheet in a part of its own. */
export function noteComments({ lost }: Findings, related: ReadonlyMap<string, Relation>): void {
  for (const { type } of related.values())
    if (/\/(?:comments|threadedComment)$/.test(type)) lost.add('comments')
}

/** Excel takes no more of a link. */
const longestTarget = 2079

function noteLink(
  { links, lost }: Findings,
  related: ReadonlyMap<string, Relation>,
  attributes: Attributes,
): void {
  const { ref = '', location = '', tooltip: tip } = attributes
  const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1]
  const relation = related.get(id ?? '')
  if (relation?.external !== true || relation.target.length > longestTarget) {
    lost.add('links within the workbook')
    return
  }
  const target = location === '' ? relation.target : `${relation.target}#${location}`
  const cells = rangeOf(ref)
  if (cells === undefined) return
  for (let line = cells.firstRow; line <= cells.lastRow; line += 1) {
    for (let column = cells.firstColumn; column <= cells.lastColumn; column += 1) {
      if (links.length === limits.links) return
      links.push({ line, column, target, tip })
    }
  }
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
