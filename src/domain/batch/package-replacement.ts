import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import { type FormField, formFields } from '../form/fields.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { readJson } from '../form/json-text.ts'
import type { Problem } from '../form/problem.ts'
import { validateBody } from '../form/validate.ts'
import { packageWithName } from '../submission/confirmation.ts'
import { formatCount, joinFirst } from '../wording/text.ts'
import type { Batch } from './batch.ts'
import { fileCommand } from './file-command.ts'

/** A difference between the schemas of a package and its successor, for one field (`CODE.FIELD`). */
interface SchemaChange {
  field: string
  /** The difference in words. */
  change: string
  required: boolean
  /** Whether the field is new and required: no order for the earlier package has it. */
  isMissing?: boolean
}

/**
 * Returns the package that probably replaces another one: it is ACTIVE, has a greater id, and has the same name, or
 * else the same checks and survey.
 */
export function likelySuccessor(replaced: Package, packages: readonly Package[]): Package | undefined {
  const newer = packages
    .filter(({ id, status }) => status === 'ACTIVE' && id > replaced.id)
    .sort((a, b) => b.id - a.id)
  const content = contentOf(replaced)
  return (
    newer.find(({ name }) => name === replaced.name) ??
    (content === undefined ? undefined : newer.find((each) => contentOf(each) === content))
  )
}

/** Returns the packages that can no longer be ordered, each with its likely successor. */
export function findSuccessors(packages: readonly Package[]): [unavailable: number, successor: number][] {
  return packages
    .filter(({ status }) => status !== 'ACTIVE')
    .flatMap((unavailable): [number, number][] => {
      const successor = likelySuccessor(unavailable, packages)
      return successor === undefined ? [] : [[unavailable.id, successor.id]]
    })
}

/**
 * Returns why a move to another package should be asked about, and its effect; undefined if the service's `packages`
 * show that the other package replaced the one of the batch.
 */
export function unrelatedPackagesText(
  packages: readonly Package[],
  packageId: number,
  newPackageId: number,
): string | undefined {
  const [oldPackage, newPackage] = [packageId, newPackageId].map((id) =>
    packages.find((each) => each.id === id),
  )
  const isReplaced =
    oldPackage !== undefined &&
    oldPackage.status !== 'ACTIVE' &&
    likelySuccessor(oldPackage, packages)?.id === newPackageId
  if (isReplaced) return undefined
  const oldText = packageWithName({ id: packageId, name: oldPackage?.name })
  const newText = packageWithName({ id: newPackageId, name: newPackage?.name })
  const reason =
    oldPackage === undefined
      ? `${oldText} is not available to this user, so nothing shows that ${newText} replaces it.`
      : `${oldText} is ${oldPackage.status}; ${newText} is another package.`
  return `${reason} From now on both count as one: a person who has one is not ordered for the other.`
}

/** Returns a text that is equal for packages with the same checks and survey; undefined if a package has none. */
function contentOf({ details }: Package): string | undefined {
  const checks = details.background_checks.map(({ check_name, partner_name }) => [check_name, partner_name])
  if (checks.length === 0 && details.reference_survey === null) return undefined
  return JSON.stringify([details.reference_survey?.id ?? null, checks.map(String).sort()])
}

/** Returns the differences between two schemas that affect how a form is filled in. */
export function schemaChanges(oldSchema: PackageSchema, newSchema: PackageSchema): SchemaChange[] {
  const [oldFields, newFields] = [fieldsByColumn(oldSchema), fieldsByColumn(newSchema)]
  const changes: SchemaChange[] = []
  for (const [field, { type, required }] of newFields) {
    const oldField = oldFields.get(field)
    if (oldField === undefined) {
      changes.push({ field, change: required ? 'new and required' : 'new', required, isMissing: required })
      continue
    }
    if (oldField.type !== type) changes.push({ field, change: `${oldField.type} is now ${type}`, required })
    if (oldField.required !== required) {
      changes.push({ field, change: required ? 'now required' : 'no longer required', required })
    }
  }
  for (const field of oldFields.keys()) {
    if (!newFields.has(field)) changes.push({ field, change: 'no longer allowed', required: false })
  }
  return changes
}

function fieldsByColumn(schema: PackageSchema): Map<string, FormField> {
  return new Map(formFields(schema).map((field) => [field.column, field]))
}

/** Returns the body of a row for another package, or the problems of the row in that package. */
export function bodyForPackage(
  body: Uint8Array,
  schema: PackageSchema,
): { body: Uint8Array; problems?: undefined } | { problems: readonly Problem[]; body?: undefined } {
  const order = { ...(readJson(new TextDecoder().decode(body)).value as object), package_id: schema.id }
  const { problems } = validateBody(order, schema)
  return problems === undefined ? { body: new TextEncoder().encode(JSON.stringify(order)) } : { problems }
}

const maxNamedRows = 3

/** A row that is invalid for the other package, and its problems. */
export interface InvalidRow {
  row: number
  problems: readonly Problem[]
}

/** The properties of a batch that the steps for its rows depend on. */
type BatchOfRows = Pick<Batch, 'id' | 'allowDuplicate' | 'allowSimilar' | 'shared' | 'counts'>

/** Returns the steps that order the rows of a batch under a package for which their values have to be changed. */
export function stepsWithoutMove(batch: BatchOfRows, packageId: number): string[] {
  const { id, allowDuplicate, shared = [], counts } = batch
  // The flag allows what rows of one file share, so it has no effect on a file of one row.
  const allowSimilar = batch.allowSimilar === true && counts.pending + counts.held + counts.rejected > 1
  const runCommand = fileCommand('run', {
    file: 'rest.csv',
    columns: {},
    allowed: { allowDuplicate, allowSimilar, shared, ignoreResults: false },
  })
  return [
    `Write the rows that were not sent to a file: refcheck batch export ${id} --state pending,held,rejected --output rest.csv`,
    `Fix them there, set their package_id to ${packageId}, and order them: ${runCommand}`,
    `Then cancel them here: refcheck batch cancel ${id}`,
  ]
}

/**
 * Returns the error if rows are invalid for the successor; nothing is moved then. Each problem is listed once, with its
 * rows. `lines`: the line of each row, if the file of the batch is unchanged.
 */
export function moveError(
  batch: BatchOfRows,
  packageId: number,
  invalid: readonly InvalidRow[],
  lines: ReadonlyMap<number, number> = new Map(),
): InvalidInputError | undefined {
  if (invalid.length === 0) return undefined
  const rowProblems = invalid.flatMap(({ row, problems }) => problems.map((problem) => ({ row, problem })))
  const rowsByProblem = Map.groupBy(rowProblems, ({ problem }) => problemText(problem))
  const problems = [...rowsByProblem].map(([text, occurrences]) => ({
    field: occurrences[0]?.problem.path ?? '',
    value: undefined,
    problem: occurrences[0]?.problem.problem ?? '',
    text: `${text}, in ${rowsText(
      occurrences.map(({ row }) => row),
      lines,
    )}`,
  }))
  const rows = formatCount(invalid.length, 'row is', 'rows are')
  return new InvalidInputError(
    `${rows} invalid for package ${packageId}: ${problems.map(({ text }) => text).join('; ')}`,
    {
      problems: problems.length > 1 ? problems : undefined,
      hint: `Nothing was moved. ${stepsWithoutMove(batch, packageId).join('\n')}`,
    },
  )
}

/** Returns the problem after the field's column name, in the wording for a typed value. */
const problemText = ({ column, path, problem, flagProblem = problem }: Problem): string =>
  `${column ?? path} ${flagProblem}`

/** Returns the lines of rows in their file, or the numbers of the rows if the lines are not known. */
function rowsText(rowNumbers: readonly number[], lines: ReadonlyMap<number, number>): string {
  const areLinesKnown = rowNumbers.every((row) => lines.has(row))
  const rows = rowNumbers.map((row) => String(areLinesKnown ? lines.get(row) : row))
  const noun = areLinesKnown ? 'line' : 'row'
  if (rows.length === 1) return `${noun} ${rows[0]}`
  return `${noun}s ${joinFirst(rows, maxNamedRows)}`
}
