import { UndecidedError } from '../../errors/kinds.ts'
import { limits } from '../limits.ts'
import { refusal, shown } from '../refusal.ts'
import { textOf } from '../../domain/sheet/cell.ts'
import type { BookOptions, BookSheet } from './book.ts'

/** The sheet that was named, or the only visible one that holds anything. */
export async function chosenSheet(
  sheets: readonly BookSheet[],
  { sheet: wanted, aside }: BookOptions,
  name: string,
): Promise<BookSheet> {
  const list = sheets.map((sheet) => shown(sheet.name)).join(', ')
  if (wanted !== undefined) {
    const found = sheets.find((sheet) => sheet.name === wanted)
    if (found !== undefined) return found
    throw refusal(name, `it has no sheet named ${shown(wanted)}`, `Its sheets: ${list}`)
  }
  const visible = sheets.filter((sheet) => !sheet.hidden && !aside.includes(sheet.name))
  const [only, other] = visible
  if (only === undefined) throw refusal(name, 'it has no sheet to read', `Its sheets: ${list}`)
  if (other === undefined) return only
  const filled: { sheet: BookSheet; label: string }[] = []
  const search = { pieces: 0 }
  for (const sheet of visible) {
    const label = await beginning(sheet, search, name)
    if (label !== undefined) filled.push({ sheet, label: `${sheet.name}: ${label}` })
  }
  const [first, second] = filled
  if (first === undefined) return only
  if (second === undefined) return first.sheet
  throw new UndecidedError(
    `${name}: it has several sheets: ${filled.map((each) => shown(each.sheet.name)).join(', ')}`,
    {
      about: 'sheet',
      hint: `Say which one: --sheet ${shown(first.sheet.name)}`,
      question: `Which sheet of ${name} is the list?`,
      answers: filled.map(({ sheet, label }) => ({ value: sheet.name, label })),
    },
  )
}

/** The first texts of a sheet; undefined where it is empty. */
async function beginning(
  { rows, name: title }: BookSheet,
  search: { pieces: number },
  name: string,
): Promise<string | undefined> {
  for await (const [row] of rows()) {
    search.pieces += 1
    if (search.pieces > limits.searchedPieces) {
      throw refusal(
        name,
        `its sheets hold more than ${String(limits.searchedPieces / 64)} MiB before their first rows, the limit`,
        `Say which sheet is the list, for example: --sheet ${shown(title)}`,
      )
    }
    if (row === undefined) continue
    const texts = row.cells.map(textOf).filter((text) => text.trim() !== '')
    return texts.slice(0, 5).join(', ').slice(0, 120)
  }
  return undefined
}
