import {
  agreedText,
  columnNames,
  fieldName,
  headerMappingName,
  headerName,
  knownFields,
  type Mapping,
  matchColumns,
  mergeMappings,
  missingColumns,
  proposedColumnLines,
  resolveColumns,
  type Target,
  targetName,
  type UnknownColumn,
} from '../../domain/batch/columns.ts'
import type { BatchEvent } from '../../domain/batch/run-policy.ts'
import { textOf } from '../../domain/sheet/cell.ts'
import { cutText } from '../../domain/wording/text.ts'
import type { Choice, Prompter } from '../../prompt/prompter.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { Services } from '../services.ts'
import type { UnexplainedColumns } from './check-file.ts'

/**
 * What was agreed of columns that no rule explains: before, for a file with the same header, else now, on one screen; saved
 * for the next file with this header. Without a person only what was agreed before.
 */
export async function agreedColumns(
  { mappings, prompter }: Pick<Services, 'mappings' | 'prompter'>,
  columns: UnexplainedColumns,
  onBatchEvent: (event: BatchEvent) => void,
): Promise<Mapping> {
  const { sheet, schemas, mapping } = columns
  const name = headerMappingName(sheet.columns, schemas)
  const stored = await mappings.get(name)
  if (stored !== undefined) {
    const again = mergeMappings(stored, mapping)
    const { unknown } = matchColumns(sheet.columns, schemas, again)
    if (unknown.length < columns.match.unknown.length) {
      onBatchEvent({ name: 'columns-agreed-before', text: agreedText(stored, name) })
      return again
    }
  }
  if (prompter === undefined) return mapping
  const answers = await askColumns(prompter, columns)
  await mappings.put(name, stored === undefined ? answers : mergeMappings(stored, answers))
  onBatchEvent({ name: 'columns-saved' })
  return mergeMappings(mapping, answers)
}

async function askColumns(prompter: Prompter, columns: UnexplainedColumns): Promise<Mapping> {
  const { sheet, match } = columns
  const examples = await firstValues(sheet)
  const valueOf = (header: string): string => examples.get(header) ?? ''
  const ofPackage = match.unknown.find(({ suggestion }) => suggestion === 'package_id')
  if (ofPackage !== undefined) {
    const { header } = ofPackage
    const message = `Does the column "${header}" (${cutText(valueOf(header), 20)}) give the package id of each row?`
    const isPackage = await prompter.confirm({ message, initial: true })
    return isPackage ? { map: { [header]: 'package_id' }, ignore: [] } : { map: {}, ignore: [header] }
  }
  const map = new Map(
    match.unknown.flatMap(({ header, suggestion }) =>
      suggestion === undefined ? [] : [[header, suggestion]],
    ),
  )
  const undecided = match.unknown.filter(({ suggestion }) => suggestion === undefined)
  for (const field of openFields(columns)) {
    const offered = candidates(undecided, field).filter(({ header }) => !map.has(header))
    if (offered.length === 0) continue
    const choices: Choice<string | undefined>[] = offered.map(({ header }) => ({
      value: header,
      label: labelOf(header, valueOf(header)),
    }))
    const header = await prompter.select({
      message: `Which column is the ${fieldName(field)}?`,
      choices: [...choices, { value: undefined, label: 'None of these' }],
    })
    if (header !== undefined) map.set(header, field)
  }
  const targets = targetsOf(columns, answersOf(match.unknown, map))
  const lines = proposedColumnLines(
    sheet.columns.flatMap((column, at) => {
      const header = headerName(column)
      const target = targets[at]
      const field = target === undefined || target.kind === 'unused' ? undefined : targetName(target)
      return header === '' ? [] : [{ header, field, example: valueOf(header) }]
    }),
  )
  const question = {
    above: [`${sheet.name} is read so:`, ...lines],
    message: 'Are these right?',
    initial: true,
  }
  if (await prompter.confirm(question)) return answersOf(match.unknown, map)
  const answers = answersOf(match.unknown, await askEach(prompter, columns, { map, valueOf }))
  targetsOf(columns, answers)
  return answers
}

/** What each column is with these answers; throws where they are not enough to read the file, so that they are not saved. */
function targetsOf({ sheet, schemas, mapping }: UnexplainedColumns, answers: Mapping): readonly Target[] {
  const match = matchColumns(sheet.columns, schemas, mergeMappings(mapping, answers))
  return resolveColumns(sheet, match, schemas, 'include')
}

/** Fields that several columns may be, and fields that every row needs and no column seems to be. */
function openFields({ schemas, match }: UnexplainedColumns): string[] {
  const rivals = match.unknown.flatMap(({ rival }) => (rival === undefined ? [] : [rival]))
  const suggested = new Set(match.unknown.map(({ suggestion }) => suggestion))
  const missing = missingColumns(match.targets, schemas).filter((field) => !suggested.has(field))
  return [...new Set([...rivals, ...missing])]
}

function candidates(undecided: readonly UnknownColumn[], field: string): readonly UnknownColumn[] {
  const rivals = undecided.filter(({ rival }) => rival === field)
  return rivals.length > 0 ? rivals : undecided.filter(({ rival }) => rival === undefined)
}

/** Asks what each column is, the proposed meaning pointed at. */
async function askEach(
  prompter: Prompter,
  { schemas, match }: UnexplainedColumns,
  { map, valueOf }: { map: ReadonlyMap<string, string>; valueOf: (header: string) => string },
): Promise<Map<string, string>> {
  const chosen = new Map<string, string>()
  const taken = new Set(match.targets.map(targetName))
  for (const { header } of match.unknown) {
    const fields = columnNames(knownFields(schemas)).filter(
      (field) => field !== 'package_id' && !taken.has(field),
    )
    const choices: Choice<string | undefined>[] = fields.map((field) => ({
      value: field,
      label: fieldName(field),
    }))
    const proposed = map.get(header)
    const field = await prompter.select({
      message: `What is the column ${labelOf(header, valueOf(header))}?`,
      choices: [{ value: undefined, label: 'Leave it out' }, ...choices],
      initial: proposed !== undefined && fields.includes(proposed) ? proposed : undefined,
    })
    if (field === undefined) continue
    chosen.set(header, field)
    taken.add(field)
  }
  return chosen
}

function answersOf(unknown: readonly UnknownColumn[], map: ReadonlyMap<string, string>): Mapping {
  return {
    map: Object.fromEntries(map),
    ignore: unknown.flatMap(({ header }) => (map.has(header) ? [] : [header])),
  }
}

function labelOf(header: string, example: string): string {
  return example === '' ? `"${header}"` : `"${cutText(header, 30)}" (${cutText(example, 30)})`
}

const maxRowsRead = 50

/** The first value of each column, of the first rows. */
async function firstValues(sheet: Sheet): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  let rows = 0
  for await (const { cells } of sheet.rows()) {
    for (const [at, column] of sheet.columns.entries()) {
      const header = headerName(column)
      const value = textOf(cells[at] ?? '').trim()
      if (value !== '' && !values.has(header)) values.set(header, value)
    }
    rows += 1
    if (rows === maxRowsRead) break
  }
  return values
}
