import { InvalidInputError, UndecidedError } from '../../errors/kinds.ts'
import type { MergedCells, SheetRow } from '../sheet/cell.ts'
import type { HiddenRows, Target } from './columns.ts'

export interface AmbiguityRules {
  headers: readonly string[]
  targets: readonly Target[]
  hidden: HiddenRows | undefined
}

/** A sheet after all its rows were read. */
interface ReadSheet {
  name: string
  headerLine: number
  merged: readonly MergedCells[]
  /** Ranges that a conditional format may strike through. */
  struckByConditionalFormat: readonly MergedCells[]
}

/** The number of values that suffice to detect an encoding. */
const maxSamples = 200

/**
 * Collects cells of the sent columns that a person may see differently than refcheck reads them: hidden rows,
 * rows that are struck through, bytes of an unknown encoding, and cells merged over several rows. It is
 * filled while the file is checked.
 */
export class Ambiguities {
  readonly #rules: AmbiguityRules
  readonly #sentColumns: readonly number[]
  /** Lines of rows with values that are hidden or struck through. */
  readonly hiddenLines: number[] = []
  readonly struckLines: number[] = []
  /** Values as bytes in Latin-1 (one character for each byte), and the position of the first such value. */
  readonly samples: string[] = []
  firstUndecodedCell: { line: number; column: string } | undefined
  #lastLine = 0

  constructor(rules: AmbiguityRules) {
    this.#rules = rules
    this.#sentColumns = rules.targets.flatMap(({ kind }, index) => (kind === 'unused' ? [] : [index]))
  }

  /** Whether a row should be left out. It must be called once for each row, in the order of the file. */
  shouldLeaveOut({ line, cells, isHidden, struckColumns }: SheetRow): boolean {
    this.#lastLine = line
    for (const column of this.#sentColumns) {
      const cell = cells[column]
      if (typeof cell === 'object' && cell.kind === 'bytes') this.#addSample(cell.text, line, column)
    }
    const isStruck = struckColumns?.some((index) => this.#sentColumns.includes(index)) === true
    if (isHidden !== true && !isStruck) return false
    if (this.#rules.hidden === undefined) (isHidden === true ? this.hiddenLines : this.struckLines).push(line)
    return this.#rules.hidden === 'skip'
  }

  #addSample(text: string, line: number, column: number): void {
    this.firstUndecodedCell ??= { line, column: this.#rules.headers[column]?.trim() ?? '' }
    if (this.samples.length < maxSamples) this.samples.push(text)
  }

  /**
   * Returns the error for ambiguous rows; undefined if there are none. Bytes of an unknown encoding are not included.
   */
  findRefusal(sheet: ReadSheet): InvalidInputError | undefined {
    const merged = sheet.merged.find((cells) => this.#isSent(cells, sheet.headerLine))
    if (merged !== undefined) {
      return new InvalidInputError(
        `${sheet.name}: the cells ${merged.range} are merged, so it is unclear which row the value belongs to`,
        { hint: 'Unmerge them, and give each row its own value.' },
      )
    }
    const struck = sheet.struckByConditionalFormat.find((cells) => this.#isSent(cells, sheet.headerLine))
    if (struck !== undefined && this.#rules.hidden !== 'include') {
      return new InvalidInputError(
        `${sheet.name}: a conditional format may strike through, hide or change cells of ${struck.range}, and it is not evaluated`,
        { hint: 'Remove that conditional format, or order these rows too with --hidden include.' },
      )
    }
    return this.hiddenLines.length + this.struckLines.length === 0
      ? undefined
      : this.#undecidedError(sheet.name)
  }

  #isSent({ firstRow, lastRow, firstColumn, lastColumn }: MergedCells, headerLine: number): boolean {
    if (lastRow < headerLine || firstRow > this.#lastLine) return false
    return this.#sentColumns.some((index) => index >= firstColumn && index <= lastColumn)
  }

  #undecidedError(name: string): UndecidedError {
    const parts = [
      ...(this.hiddenLines.length === 0 ? [] : [`${rowsOnLines(this.hiddenLines)} hidden`]),
      ...(this.struckLines.length === 0 ? [] : [`${rowsOnLines(this.struckLines)} struck through`]),
    ]
    const count = this.hiddenLines.length + this.struckLines.length
    const rowsText = count === 1 ? 'this row' : `these ${count} rows`
    return new UndecidedError(`${name}: ${parts.join(', and ')}`, {
      flag: 'hidden',
      hint: 'Leave them out with --hidden skip, or order them too with --hidden include.',
      question: `${name}: ${parts.join(', and ')}. Order checks for ${count === 1 ? 'it' : 'them'} too?`,
      answers: [
        { value: 'skip', label: `No, leave out ${rowsText}` },
        { value: 'include', label: `Yes, include ${rowsText}` },
      ],
    })
  }
}

/** Returns a subject with its verb: "the rows on lines 3, 5 to 9 and 12 are". */
function rowsOnLines(lines: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === line - 1) last[1] = line
    else ranges.push([line, line])
  }
  const rangeTexts = ranges
    .slice(0, 10)
    .map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`))
  const ellipsis = ranges.length > rangeTexts.length ? ' …' : ''
  return lines.length === 1
    ? `the row on line ${rangeTexts.join('')} is`
    : `the rows on lines ${rangeTexts.join(', ')}${ellipsis} are`
}
