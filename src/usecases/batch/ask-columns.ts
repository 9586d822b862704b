import {
  confirmedMappingText,
  columnNames,
  fieldText,
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
 * Returns the agreed meaning of columns that no rule explains. The agreement was stored for an earlier file
 * with the same header, or the user is asked on one screen and the answers are stored for the next file.
 * Without a terminal only a stored agreement is used.
 */
export async function agreeColumns(
  { mappings, prompter }: Pick<Services, 'mappings' | 'prompter'>,
  columns: UnexplainedColumns,
  onBatchEvent: (event: BatchEvent) => void,
): Promise<Mapping> {
  const { sheet, schemas, mapping } = columns
  const name = headerMappingName(sheet.columns, schemas)
  const storedMapping = await mappings.get(name)
  if (storedMapping !== undefined) {
    const merged = mergeMappings(storedMapping, mapping)
    const { unknownColumns } = matchColumns(sheet.columns, schemas, merged)
    if (unknownColumns.length < columns.match.unknownColumns.length) {
      onBatchEvent({ name: 'columns-agreed-before', text: confirmedMappingText(storedMapping, name) })
      return merged
    }
  }
  if (prompter === undefined) return mapping
  const answers = await askColumns(prompter, columns)
  await mappings.put(name, storedMapping === undefined ? answers : mergeMappings(storedMapping, answers))
  onBatchEvent({ name: 'columns-saved' })
  return mergeMappings(mapping, answers)
}

async function askColumns(prompter: Prompter, columns: UnexplainedColumns): Promise<Mapping> {
  const { sheet, match } = columns
  const examples = await firstValues(sheet)
  const exampleOf = (header: string): string => examples.get(header) ?? ''
  const packageColumn = match.unknownColumns.find(({ suggestion }) => suggestion === 'package_id')
  if (packageColumn !== undefined) {
    const { header } = packageColumn
    const message = `Does the column "${header}" (${cutText(exampleOf(header), 20)}) give the package id of each row?`
    const isPackage = await prompter.confirm({ message, initial: true })
    return isPackage ? { map: { [header]: 'package_id' }, ignore: [] } : { map: {}, ignore: [header] }
  }
  const fieldByHeader = new Map(
    match.unknownColumns.flatMap(({ header, suggestion }) =>
      suggestion === undefined ? [] : [[header, suggestion]],
    ),
  )
  const undecidedColumns = match.unknownColumns.filter(({ suggestion }) => suggestion === undefined)
  const openFieldNames = openFields(columns)
  // More fields are missing than the columns that are left could contain, so that no answer makes the file complete.
  if (openFieldNames.length > undecidedColumns.length)
    resolveTargets(columns, answersOf(match.unknownColumns, fieldByHeader))
  for (const field of openFieldNames) {
    const candidateColumns = candidatesFor(undecidedColumns, field).filter(
      ({ header }) => !fieldByHeader.has(header),
    )
    if (candidateColumns.length === 0) continue
    const choices: Choice<string | undefined>[] = candidateColumns.map(({ header }) => ({
      value: header,
      label: labelOf(header, exampleOf(header)),
    }))
    const header = await prompter.select({
      message: `Which column is the ${fieldText(field)}?`,
      choices: [...choices, { value: undefined, label: 'None of these' }],
    })
    if (header !== undefined) fieldByHeader.set(header, field)
  }
  const targets = resolveTargets(columns, answersOf(match.unknownColumns, fieldByHeader))
  const lines = proposedColumnLines(
    sheet.columns.flatMap((column, index) => {
      const header = headerName(column)
      const target = targets[index]
      const field = target === undefined || target.kind === 'unused' ? undefined : targetName(target)
      return header === '' ? [] : [{ header, field, example: exampleOf(header) }]
    }),
  )
  const question = {
    linesAbove: [`${sheet.name} is read so:`, ...lines],
    message: 'Are these right?',
    initial: true,
  }
  if (await prompter.confirm(question)) return answersOf(match.unknownColumns, fieldByHeader)
  const eachAnswer = await askEach(prompter, columns, { proposedFields: fieldByHeader, exampleOf })
  const answers = answersOf(match.unknownColumns, eachAnswer)
  resolveTargets(columns, answers)
  return answers
}

/**
 * Returns the target of each column with these answers. Throws if the file cannot be read with the answers,
 * so that such answers are not saved.
 */
function resolveTargets(
  { sheet, schemas, mapping }: UnexplainedColumns,
  answers: Mapping,
): readonly Target[] {
  const match = matchColumns(sheet.columns, schemas, mergeMappings(mapping, answers))
  return resolveColumns(sheet, match, schemas, 'include')
}

/** Returns fields that several columns may contain, and required fields for which there is no column. */
function openFields({ schemas, match }: UnexplainedColumns): string[] {
  const contestedFields = match.unknownColumns.flatMap(({ contestedField }) =>
    contestedField === undefined ? [] : [contestedField],
  )
  const suggested = new Set(match.unknownColumns.map(({ suggestion }) => suggestion))
  const missingFields = missingColumns(match.targets, schemas).filter((field) => !suggested.has(field))
  return [...new Set([...contestedFields, ...missingFields])]
}

/** Returns the columns that may contain a field: those that contest it, or else those that contest no field. */
function candidatesFor(undecided: readonly UnknownColumn[], field: string): readonly UnknownColumn[] {
  const contestingColumns = undecided.filter(({ contestedField }) => contestedField === field)
  if (contestingColumns.length > 0) return contestingColumns
  return undecided.filter(({ contestedField }) => contestedField === undefined)
}

/** Asks for the meaning of each column; the proposed meaning is preselected. */
async function askEach(
  prompter: Prompter,
  { schemas, match }: UnexplainedColumns,
  {
    proposedFields,
    exampleOf,
  }: { proposedFields: ReadonlyMap<string, string>; exampleOf: (header: string) => string },
): Promise<Map<string, string>> {
  const fieldByHeader = new Map<string, string>()
  const usedFields = new Set(match.targets.map(targetName))
  for (const { header } of match.unknownColumns) {
    const fields = columnNames(knownFields(schemas)).filter(
      (field) => field !== 'package_id' && !usedFields.has(field),
    )
    const choices: Choice<string | undefined>[] = fields.map((field) => ({
      value: field,
      label: fieldText(field),
    }))
    const proposedField = proposedFields.get(header)
    const field = await prompter.select({
      message: `What is the column ${labelOf(header, exampleOf(header))}?`,
      choices: [{ value: undefined, label: 'Leave it out' }, ...choices],
      initial: proposedField !== undefined && fields.includes(proposedField) ? proposedField : undefined,
    })
    if (field === undefined) continue
    fieldByHeader.set(header, field)
    usedFields.add(field)
  }
  return fieldByHeader
}

/** Returns the mapping of the unknown columns: columns without a field are ignored. */
function answersOf(
  unknownColumns: readonly UnknownColumn[],
  fieldByHeader: ReadonlyMap<string, string>,
): Mapping {
  return {
    map: Object.fromEntries(fieldByHeader),
    ignore: unknownColumns.flatMap(({ header }) => (fieldByHeader.has(header) ? [] : [header])),
  }
}

function labelOf(header: string, example: string): string {
  return example === '' ? `"${header}"` : `"${cutText(header, 30)}" (${cutText(example, 30)})`
}

const maxRowsRead = 50

/** Returns the first non-empty value of each header in the first `maxRowsRead` rows. */
async function firstValues(sheet: Sheet): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  let rows = 0
  for await (const { cells } of sheet.rows()) {
    for (const [index, column] of sheet.columns.entries()) {
      const header = headerName(column)
      const value = textOf(cells[index] ?? '').trim()
      if (value !== '' && !values.has(header)) values.set(header, value)
    }
    rows += 1
    if (rows === maxRowsRead) break
  }
  return values
}
