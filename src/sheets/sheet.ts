import type { Dialect, MergedCells, SheetRow } from '../domain/sheet/cell.ts'
import type { SheetLook } from '../domain/sheet/look.ts'
import type { UndecidedError } from '../errors/kinds.ts'

/** An opened table. Each call of `rows` reads the file from its start. */
export interface Sheet {
  /** The source's name, for messages. */
  readonly name: string
  /** Header cells as they stand; '' for a column without a name, which holds nothing. */
  readonly columns: readonly string[]
  /** The line of the header; 0 in JSON. */
  readonly headerLine: number
  /** Columns that are not shown. */
  readonly hiddenColumns: ReadonlySet<number>
  readonly dialect: Dialect
  /** Throws an InvalidInputError where the file cannot be understood, with the place. */
  rows(): AsyncGenerator<SheetRow>
  /** The same, as many at a time as come at once: for very many rows, which one by one would take longer. */
  parts(): AsyncGenerator<SheetRow[]>
  /** What was found merged, once all rows have been read. */
  merged(): readonly MergedCells[]
  look(): SheetLook
  /**
   * The refusal of values whose encoding nobody has named, with the likeliest ones. `place` says where the first
   * stands; `samples` are their texts as the cells of kind `bytes` have them.
   */
  undecided(place: string, samples: readonly string[]): Promise<UndecidedError>
}

/** What a file shows that has values alone. */
export const noLook: SheetLook = {
  widths: new Map(),
  struckByRule: [],
  lost: new Set(),
  otherSheets: [],
}

/** Rows that come by parts, one by one. */
export async function* oneByOne(parts: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const rows of parts) yield* rows
}
