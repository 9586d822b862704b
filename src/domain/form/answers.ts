import { bareObject } from '../../contract/parse-json.ts'
import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue } from '../../contract/request.ts'
import { checkFieldValue } from './field-value.ts'
import { type FormField, titleOf, formatAnswer } from './fields.ts'
import { problemsError, shown } from './problem.ts'
import { answerIn } from './implausible.ts'
import { readRecipientField } from './recipient.ts'
import { type DraftBody, fieldsIn, validateDraft } from './validate.ts'

export type Answers = Map<FormField, FieldValue>

export function answersIn(given: DraftBody, schema: PackageSchema, fields: readonly FormField[]): Answers {
  const { draft, problems } = validateDraft(given, schema)
  if (problems !== undefined) {
    throw problemsError(
      problems,
      'Nothing was sent. Correct what is wrong, or leave it out to be asked.',
      'flags',
    )
  }
  const answers: Answers = new Map()
  for (const field of fields) putAnswer(answers, field, answerIn(draft, field))
  return answers
}

export function putAnswer(answers: Answers, field: FormField, answer: FieldValue | undefined): void {
  if (answer === undefined) answers.delete(field)
  else answers.set(field, answer)
}

/** What a person may do at the review. */
export type ReviewChoice = 'send' | 'more' | 'again' | 'change' | 'leave' | 'drop'

/** The choices at a page of the review, counted from 1; only the last leads on. */
export function reviewChoices(
  page: number,
  pages: number,
  isFixed = false,
): { value: ReviewChoice; label: string }[] {
  const isLast = page >= pages
  return [
    isLast
      ? { value: 'send' as const, label: 'Yes, go on' }
      : { value: 'more' as const, label: `Show the next page (${page} of ${pages} shown)` },
    ...(isLast && pages > 1 ? [{ value: 'again' as const, label: 'Show the first page again' }] : []),
    ...(isFixed
      ? [{ value: 'leave' as const, label: 'Cancel, and send nothing' }]
      : [
          { value: 'change' as const, label: 'Change an answer' },
          { value: 'leave' as const, label: 'Leave for now, and keep the answers' },
          { value: 'drop' as const, label: 'Cancel, and delete the answers' },
        ]),
  ]
}

/** Every field with its answer, to choose the one that is changed; undefined leads back. */
export function changeChoices(
  fields: readonly FormField[],
  answers: Answers,
): { value: FormField | undefined; label: string }[] {
  return [
    ...fields.map((field) => {
      const answer = answers.get(field)
      const value = answer === undefined ? 'not given' : shown(formatAnswer(answer))
      return { value: field, label: `${titleOf(field)} (${value})` }
    }),
    { value: undefined, label: 'Change nothing' },
  ]
}

/** The answers of a stored draft that are still valid; a schema may have changed since. */
export function validAnswers(draft: DraftBody, fields: readonly FormField[]): Answers {
  const answers: Answers = new Map()
  for (const field of fields) {
    const answer = answerIn(draft, field)
    if (answer !== undefined && takes(field, answer)) answers.set(field, answer)
  }
  return answers
}

function takes(field: FormField, answer: FieldValue): boolean {
  const { code, name } = field
  if (code !== undefined) return checkFieldValue(field, answer) === undefined
  const known = recipientFields.find((each) => each === name)
  return (
    known !== undefined &&
    typeof answer === 'string' &&
    readRecipientField(known, answer).problem === undefined
  )
}

/** An entry for each check that has at least one answer, in the schema's order. */
export function bodyOf(schema: PackageSchema, fields: readonly FormField[], answers: Answers): DraftBody {
  const recipient = bareObject<FieldValue>()
  const entries = new Map<string, AdditionalInformation>()
  for (const field of fields) {
    const answer = answers.get(field)
    if (answer === undefined) continue
    const names = field.code === undefined ? recipient : fieldsIn(entries, field.code)
    names[field.name] = answer
  }
  const draft: DraftBody = { package_id: schema.id, recipient }
  return entries.size === 0 ? draft : { ...draft, additional_information: [...entries.values()] }
}
