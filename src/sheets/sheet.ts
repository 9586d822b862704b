import type { Dialect, SheetRow } from '../domain/sheet/cell.ts'

/** An opened table. Each call of `rows` reads the file from its start. */
export interface Sheet {
  /** The source's name, for messages. */
  readonly name: string
  /** Header cells as they stand; '' for a column without a name, which holds nothing. */
  readonly columns: readonly string[]
  readonly dialect: Dialect
  /** Throws an InvalidInputError where the file cannot be understood, with the place. */
  rows(): AsyncGenerator<SheetRow>
  /** The same, as many at a time as come at once: for very many rows, which one by one would take longer. */
  parts(): AsyncGenerator<SheetRow[]>
}

/** Rows that come by parts, one by one. */
export async function* oneByOne(parts: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const rows of parts) yield* rows
}
