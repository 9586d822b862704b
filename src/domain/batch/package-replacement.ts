import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import { type FormField, formFields } from '../form/fields.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { readJson } from '../form/json-text.ts'
import type { Problem } from '../form/problem.ts'
import { validateBody } from '../form/validate.ts'
import { formatCount } from '../wording/text.ts'
import type { Batch } from './batch.ts'
import { choicesOf, fileCommand } from './file-command.ts'
import type { FileReading } from './new-row.ts'

/** How a package's schema differs from its successor's, field by field (`<code>.<field>`). */
interface SchemaChange {
  field: string
  /** In words. */
  change: string
  required: boolean
}

/** "Same name, or same checks and survey", a newer id, and ACTIVE. */
export function likelySuccessor(gone: Package, packages: readonly Package[]): Package | undefined {
  const newer = packages
    .filter(({ id, status }) => status === 'ACTIVE' && id > gone.id)
    .sort((a, b) => b.id - a.id)
  const content = contentOf(gone)
  return (
    newer.find(({ name }) => name === gone.name) ??
    (content === undefined ? undefined : newer.find((each) => contentOf(each) === content))
  )
}

/** Packages that cannot be ordered any more, each with its likely successor. */
export function findSuccessors(packages: readonly Package[]): [gone: number, successor: number][] {
  return packages
    .filter(({ status }) => status !== 'ACTIVE')
    .flatMap((gone): [number, number][] => {
      const successor = likelySuccessor(gone, packages)
      return successor === undefined ? [] : [[gone.id, successor.id]]
    })
}

/** What a package asks for, in one form; undefined where it asks for nothing that could be compared. */
function contentOf({ details }: Package): string | undefined {
  const checks = details.background_checks.map(({ check_name, partner_name }) => [check_name, partner_name])
  if (checks.length === 0 && details.reference_survey === null) return undefined
  return JSON.stringify([details.reference_survey?.id ?? null, checks.map(String).sort()])
}

/** What a person who filled in the first schema has to know to fill in the second. */
export function schemaChanges(before: PackageSchema, after: PackageSchema): SchemaChange[] {
  const [old, current] = [byColumn(before), byColumn(after)]
  const changes: SchemaChange[] = []
  for (const [field, { type, required }] of current) {
    const was = old.get(field)
    if (was === undefined) {
      changes.push({ field, change: required ? 'new and required' : 'new', required })
      continue
    }
    if (was.type !== type) changes.push({ field, change: `${was.type} is now ${type}`, required })
    if (was.required !== required) {
      changes.push({ field, change: required ? 'now required' : 'no longer required', required })
    }
  }
  for (const field of old.keys()) {
    if (!current.has(field)) changes.push({ field, change: 'no longer allowed', required: false })
  }
  return changes
}

function byColumn(schema: PackageSchema): Map<string, FormField> {
  return new Map(formFields(schema).map((field) => [field.column, field]))
}

/** A row's body for another package; or what is wrong with it there. */
export function bodyForPackage(
  body: Uint8Array,
  schema: PackageSchema,
): { body: Uint8Array; problems?: undefined } | { problems: readonly Problem[]; body?: undefined } {
  const order = { ...(readJson(new TextDecoder().decode(body)).value as object), package_id: schema.id }
  const { problems } = validateBody(order, schema)
  return problems === undefined ? { body: new TextEncoder().encode(JSON.stringify(order)) } : { problems }
}

const maxNamed = 3

/** A row that is invalid for the other package, and why. */
export interface InvalidRow {
  row: number
  problems: readonly Problem[]
}

/** The error of a move whose rows are invalid for the successor: nothing is moved. Each problem is listed once, with its rows. */
export function moveError(
  batch: Pick<Batch, 'path' | 'name' | 'reading' | 'allowDuplicate' | 'allowSimilar' | 'shared'>,
  packageId: number,
  invalid: readonly InvalidRow[],
): InvalidInputError | undefined {
  if (invalid.length === 0) return undefined
  const found = invalid.flatMap(({ row, problems }) => problems.map((problem) => ({ row, problem })))
  const groups = Map.groupBy(found, ({ problem }) => inWords(problem))
  const problems = [...groups].map(([text, all]) => ({
    field: all[0]?.problem.path ?? '',
    value: undefined,
    problem: all[0]?.problem.problem ?? '',
    text: `${text}, in ${rowsText(all.map(({ row }) => row))}`,
  }))
  const rows = formatCount(invalid.length, 'row is', 'rows are')
  return new InvalidInputError(
    `${rows} invalid for package ${packageId}: ${problems.map(({ text }) => text).join('; ')}`,
    {
      problems: problems.length > 1 ? problems : undefined,
      hint: `Nothing was moved. Fix the file and run it under the new package; people ordered before are not ordered again: ${runUnder(batch, packageId)}`,
    },
  )
}

const unread: FileReading = { sheet: null, map: {}, ignore: [], default_country: null }

/** The file of a batch, read as it was read then. */
function runUnder(batch: Parameters<typeof moveError>[0], packageId: number): string {
  const { path, name, reading, allowDuplicate, allowSimilar = false, shared = [] } = batch
  return fileCommand('run', {
    file: path ?? name,
    // How the rows of a restored batch were read is not recorded.
    columns: choicesOf(
      { ...unread, ...(readJson(reading).value as Partial<FileReading> | undefined) },
      packageId,
    ),
    allowed: { allowDuplicate, allowSimilar, shared, ignoreResults: false },
  })
}

/** By its column, as one says it of what a person typed. */
const inWords = ({ column, path, problem, ofFlag = problem }: Problem): string =>
  `${column ?? path} ${ofFlag}`

function rowsText(rows: readonly number[]): string {
  if (rows.length === 1) return `row ${rows[0]}`
  const rest = rows.length > maxNamed ? ` and ${rows.length - maxNamed} more` : ''
  return `rows ${rows.slice(0, maxNamed).join(', ')}${rest}`
}
