import { InvalidInputError, UndecidedError } from '../../errors/kinds.ts'
import type { MergedCells, SheetRow } from '../sheet/cell.ts'
import type { HiddenRows, Target } from './columns.ts'

export interface AmbiguityRules {
  headers: readonly string[]
  targets: readonly Target[]
  hidden: HiddenRows | undefined
}

/** What is known of a sheet once all its rows were read. */
interface ReadSheet {
  name: string
  headerLine: number
  merged: readonly MergedCells[]
  /** What a rule may strike through. */
  struckByRule: readonly MergedCells[]
}

/** Enough bytes to tell encodings by. */
const maxSamples = 200

/**
 * What a person sees otherwise than it is read, in the columns that are sent: rows that are hidden or struck
 * through, bytes of an encoding that was not given, cells merged over several rows. Collected while a file is
 * checked.
 */
export class Ambiguities {
  readonly #rules: AmbiguityRules
  readonly #sent: readonly number[]
  /** Lines of rows that hold something and are not shown, or struck through. */
  readonly hidden: number[] = []
  readonly struck: number[] = []
  /** Values as bytes, each a character (Latin-1), and the position of the first of them. */
  readonly samples: string[] = []
  firstBytes: { line: number; column: string } | undefined
  #lastLine = 0

  constructor(rules: AmbiguityRules) {
    this.#rules = rules
    this.#sent = rules.targets.flatMap(({ kind }, at) => (kind === 'unused' ? [] : [at]))
  }

  /** Whether a row is to be left out; asked once for each row, in the file's order. */
  leavesOut({ line, cells, hidden, struck }: SheetRow): boolean {
    this.#lastLine = line
    for (const at of this.#sent) {
      const cell = cells[at]
      if (typeof cell === 'object' && cell.kind === 'bytes') this.#sample(cell.text, line, at)
    }
    const isStruck = struck?.some((at) => this.#sent.includes(at)) === true
    if (hidden !== true && !isStruck) return false
    if (this.#rules.hidden === undefined) (hidden === true ? this.hidden : this.struck).push(line)
    return this.#rules.hidden === 'skip'
  }

  #sample(text: string, line: number, at: number): void {
    this.firstBytes ??= { line, column: this.#rules.headers[at]?.trim() ?? '' }
    if (this.samples.length < maxSamples) this.samples.push(text)
  }

  /** Why rows cannot be taken as they were read, but for bytes; undefined where they can. */
  refusal(sheet: ReadSheet): InvalidInputError | undefined {
    const merged = sheet.merged.find((cells) => this.#matters(cells, sheet.headerLine))
    if (merged !== undefined) {
      return new InvalidInputError(
        `${sheet.name}: the cells ${merged.range} are merged, so it is unclear which row the value belongs to`,
        { hint: 'Unmerge them, and give each row its own value.' },
      )
    }
    const ruled = sheet.struckByRule.find((cells) => this.#matters(cells, sheet.headerLine))
    if (ruled !== undefined && this.#rules.hidden !== 'include') {
      return new InvalidInputError(
        `${sheet.name}: a conditional format may strike through, hide or change cells of ${ruled.range}, and it is not evaluated`,
        { hint: 'Remove that conditional format, or order these rows too with --hidden include.' },
      )
    }
    return this.hidden.length + this.struck.length === 0 ? undefined : this.#undecided(sheet.name)
  }

  #matters({ firstRow, lastRow, firstColumn, lastColumn }: MergedCells, header: number): boolean {
    if (lastRow < header || firstRow > this.#lastLine) return false
    return this.#sent.some((at) => at >= firstColumn && at <= lastColumn)
  }

  #undecided(name: string): UndecidedError {
    const parts = [
      ...(this.hidden.length === 0 ? [] : [`${rowsAt(this.hidden)} hidden`]),
      ...(this.struck.length === 0 ? [] : [`${rowsAt(this.struck)} struck through`]),
    ]
    const count = this.hidden.length + this.struck.length
    const them = count === 1 ? 'this row' : `these ${count} rows`
    return new UndecidedError(`${name}: ${parts.join(', and ')}`, {
      about: 'hidden',
      hint: 'Leave them out with --hidden skip, or order them too with --hidden include.',
      question: `${name}: ${parts.join(', and ')}. Order checks for ${count === 1 ? 'it' : 'them'} too?`,
      answers: [
        { value: 'skip', label: `No, leave out ${them}` },
        { value: 'include', label: `Yes, include ${them}` },
      ],
    })
  }
}

/** "the rows on lines 3, 5 to 9 and 12 are". */
function rowsAt(lines: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === line - 1) last[1] = line
    else ranges.push([line, line])
  }
  const shown = ranges
    .slice(0, 10)
    .map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`))
  const more = ranges.length > shown.length ? ' …' : ''
  return lines.length === 1
    ? `the row on line ${shown.join('')} is`
    : `the rows on lines ${shown.join(', ')}${more} are`
}
