import { packageIdOf } from '../../domain/batch/cell-value.ts'
import {
  requireKnownMapping,
  matchColumns,
  type ColumnMatch,
  resolveColumns,
  type Mapping,
  mergeMappings,
  readMapFlags,
  type Target,
  type HiddenRows,
} from '../../domain/batch/columns.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import { ForbiddenError, NotFoundError, UsageError, InvalidInputError } from '../../errors/kinds.ts'
import { Ambiguities } from '../../domain/batch/ambiguities.ts'
import type { PhoneRepair } from '../../domain/form/recipient.ts'
import { createRowReader, type RowReading } from '../../domain/batch/row.ts'
import type { SheetRow } from '../../domain/sheet/cell.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import {
  type BatchCheck,
  markDuplicate,
  countRow,
  findUnlikelyValues,
  Duplicates,
} from '../../domain/batch/plan.ts'
import { createImplausibleFinder } from '../../domain/form/implausible.ts'

interface OrdersOptions {
  /** The package of rows that name no package. */
  packageId: number | undefined
  /** `--map` as typed. */
  map: readonly string[]
  ignore: readonly string[]
  /** A stored mapping, from `--mapping`. */
  storedMapping: Mapping
  /** Returns the schema of a package. Throws a NotFoundError or ForbiddenError if the package cannot be ordered. */
  schemaOf: (packageId: number) => Promise<PackageSchema>
  repair: PhoneRepair | undefined
  /**
   * Returns the agreed meaning of unexplained columns, stored or asked for; returns `mapping` if nothing was agreed.
   */
  agree?: ((columns: UnexplainedColumns) => Promise<Mapping>) | undefined
  /** How rows that the workbook hides are treated; undefined if no flag states it. */
  hidden?: HiddenRows | undefined
  /** Lines whose names the user has confirmed although they look damaged. */
  acceptedLines?: readonly number[] | undefined
}

/** A file with columns that no rule explains. */
export interface UnexplainedColumns {
  sheet: Sheet
  schemas: readonly PackageSchema[]
  /** The mapping so far, from flags, stored mappings and answers. */
  mapping: Mapping
  match: ColumnMatch
}

/** A file whose columns are known, with the schemas that its rows are checked against. */
export interface ReadableBatch {
  sheet: Sheet
  targets: readonly Target[]
  schemas: ReadonlyMap<number, PackageSchema>
  /** The mapping of the columns, from stored mappings, flags and answers. */
  mapping: Mapping
  /** Interprets a row of the sheet. */
  readRow: (row: SheetRow) => RowReading
  /** Returns a new collector of ambiguous cells, for one pass over all rows. */
  createAmbiguities: () => Ambiguities
}

/** Determines the meaning of a file's columns. Throws if a column is unknown, occurs twice or is missing. */
export async function readColumns(sheet: Sheet, options: OrdersOptions): Promise<ReadableBatch> {
  const typedMapping = { map: readMapFlags(options.map, sheet.columns), ignore: options.ignore }
  let mapping = mergeMappings(options.storedMapping, typedMapping)
  let schemas = await loadSchemas(sheet, mapping, options)
  requireKnownMapping(sheet.columns, [...schemas.values()], typedMapping)
  let match = matchColumns(sheet.columns, [...schemas.values()], mapping)
  // The loop ends, because each answer explains at least one column. It repeats, because an answer can be that a column
  // names the package of each row: the schemas of these packages have further fields for the other columns.
  while (match.unknownColumns.length > 0 && options.agree !== undefined) {
    const agreed = await options.agree({ sheet, schemas: [...schemas.values()], mapping, match })
    if (agreed === mapping) break
    mapping = agreed
    schemas = await loadSchemas(sheet, mapping, options)
    match = matchColumns(sheet.columns, [...schemas.values()], mapping)
  }
  const { packageId, repair, hidden, acceptedLines = [] } = options
  const targets = resolveColumns(sheet, match, [...schemas.values()], hidden)
  const headers = sheet.columns
  const readRow = createRowReader({
    headers,
    targets,
    schemas,
    packageId,
    repair,
    acceptedLines: new Set(acceptedLines),
  })
  return {
    sheet,
    targets,
    schemas,
    mapping,
    readRow,
    createAmbiguities: () => new Ambiguities({ headers, targets, hidden }),
  }
}

/**
 * Loads the schema of every package that the file names. Rows with a package that cannot be ordered are reported
 * later.
 */
async function loadSchemas(
  sheet: Sheet,
  mapping: Mapping,
  { packageId, schemaOf }: OrdersOptions,
): Promise<Map<number, PackageSchema>> {
  const schemas = new Map<number, PackageSchema>()
  if (packageId !== undefined) schemas.set(packageId, await schemaOf(packageId))
  const column = matchColumns(sheet.columns, [], mapping).targets.findIndex(
    ({ kind }) => kind === 'package_id',
  )
  if (column === -1 && packageId === undefined) {
    throw new UsageError(`${sheet.name}: no package to order is given`, {
      hint: 'Add --package ID or a column package_id. List the packages with: refcheck packages list --status active',
    })
  }
  if (column === -1 || packageId !== undefined) return schemas
  for (const id of await readPackageIds(sheet, column)) {
    try {
      schemas.set(id, await schemaOf(id))
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof ForbiddenError)) throw error
    }
  }
  return schemas
}

const maxPackages = 50

async function readPackageIds(sheet: Sheet, column: number): Promise<Set<number>> {
  const ids = new Set<number>()
  for await (const { cells } of sheet.rows()) {
    const id = packageIdOf(cells[column] ?? '')
    if (typeof id === 'number') ids.add(id)
    if (ids.size > maxPackages) {
      throw new UsageError(`${sheet.name}: it has more than ${String(maxPackages)} packages`, {
        hint: 'Check that package_id is the right column. If it is, split the file.',
      })
    }
  }
  return ids
}

/**
 * Checks all rows of a file and compares each with the rows before it. Nothing is sent. `today`: as `YYYY-MM-DD`.
 * `onRow`: called with each row in the order of the file.
 */
export async function checkBatch(
  orders: ReadableBatch,
  today: string,
  onRow?: (reading: RowReading, ordinal: number) => void,
): Promise<BatchCheck> {
  const check: BatchCheck = {
    rows: 0,
    valid: 0,
    invalid: 0,
    leftOut: 0,
    problems: [],
    duplicates: [],
    lines: [],
    changes: [],
    unlikely: [],
    packages: new Map(),
  }
  const duplicates = new Duplicates()
  const implausibleFinders = new Map(
    [...orders.schemas].map(([id, schema]) => [id, createImplausibleFinder(schema, today)]),
  )
  const ambiguities = orders.createAmbiguities()
  let ordinal = -1
  for await (const rows of orders.sheet.rowChunks()) {
    for (const row of rows) {
      ordinal += 1
      if (ambiguities.shouldLeaveOut(row)) {
        check.leftOut += 1
        continue
      }
      const reading = markDuplicate(orders.readRow(row), duplicates)
      countRow(check, reading)
      const finder = implausibleFinders.get(reading.packageId ?? 0)
      if (finder !== undefined) check.unlikely.push(...findUnlikelyValues(reading, finder))
      onRow?.(reading, ordinal)
    }
  }
  const { firstUndecodedCell, samples } = ambiguities
  if (firstUndecodedCell !== undefined) {
    throw await orders.sheet.createUndecidedEncodingError(
      `"${firstUndecodedCell.column}" on line ${String(firstUndecodedCell.line)}`,
      samples,
    )
  }
  const refusal = ambiguities.findRefusal({
    name: orders.sheet.name,
    headerLine: orders.sheet.headerLine,
    merged: orders.sheet.merged(),
    struckByConditionalFormat: orders.sheet.appearance().struckByConditionalFormat,
  })
  if (refusal !== undefined) throw refusal
  if (check.rows > 0) return check
  throw new InvalidInputError(`${orders.sheet.name}: it has a header but no rows`, {
    hint: 'Add a row for each person.',
  })
}
