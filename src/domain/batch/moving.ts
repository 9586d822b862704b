import type { PackageSchema } from '../../contract/package-schema.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { readJson } from '../form/json-text.ts'
import type { Problem } from '../form/problem.ts'
import { validateBody } from '../form/validate.ts'
import { formatCount } from '../wording/count-in-words.ts'
import type { Batch } from './batch.ts'
import { choicesOf, fileCommand } from './file-command.ts'
import type { FileReading } from './new-row.ts'

/** A row's body for another package; or what is wrong with it there. */
export function movedBody(
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
export function notMovable(
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
function runUnder(batch: Parameters<typeof notMovable>[0], packageId: number): string {
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
