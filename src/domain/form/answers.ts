import { bareObject } from '../../contract/parse-json.ts'
import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue } from '../../contract/request.ts'
import { checkFieldValue } from './field-value.ts'
import { type FormField, titleOf, formatAnswer } from './fields.ts'
import { problemsError, formatForMessage } from './problem.ts'
import { fieldValueIn } from './implausible.ts'
import { readRecipientField } from './recipient.ts'
import { type DraftBody, fieldsOfCheck, validateDraft } from './validate.ts'

export type Answers = Map<FormField, FieldValue>

/** Returns the answers in a draft. Throws InvalidInputError if one of them is not valid in the schema. */
export function readAnswers(input: DraftBody, schema: PackageSchema, fields: readonly FormField[]): Answers {
  const { draft, problems } = validateDraft(input, schema)
  if (problems !== undefined) {
    throw problemsError(
      problems,
      `Nothing was sent. Show the fields with: refcheck schema show ${schema.id}\nLeave a value out to be asked for it.`,
      'flags',
    )
  }
  const answers: Answers = new Map()
  for (const field of fields) setAnswer(answers, field, fieldValueIn(draft, field))
  return answers
}

export function setAnswer(answers: Answers, field: FormField, answer: FieldValue | undefined): void {
  if (answer === undefined) answers.delete(field)
  else answers.set(field, answer)
}

/** The choices of a user at the review. */
export type ReviewChoice = 'send' | 'more' | 'again' | 'change' | 'leave' | 'drop'

/**
 * Returns the choices at a page of the review, counted from 1. Only the last page has the choice to continue.
 * `isFixed`: whether the answers cannot be changed, because another program prepared the order.
 */
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

/**
 * Returns every field with its answer, as choices of the field to change. The value of the last choice is undefined:
 * nothing is changed.
 */
export function changeChoices(
  fields: readonly FormField[],
  answers: Answers,
): { value: FormField | undefined; label: string }[] {
  return [
    ...fields.map((field) => {
      const answer = answers.get(field)
      const value = answer === undefined ? 'not given' : formatForMessage(formatAnswer(answer))
      return { value: field, label: `${titleOf(field)} (${value})` }
    }),
    { value: undefined, label: 'Change nothing' },
  ]
}

/** Returns the answers of a stored draft that are valid in the present schema. */
export function validAnswers(draft: DraftBody, fields: readonly FormField[]): Answers {
  const answers: Answers = new Map()
  for (const field of fields) {
    const answer = fieldValueIn(draft, field)
    if (answer !== undefined && isValidAnswer(field, answer)) answers.set(field, answer)
  }
  return answers
}

function isValidAnswer(field: FormField, answer: FieldValue): boolean {
  const { code, name } = field
  if (code !== undefined) return checkFieldValue(field, answer) === undefined
  const recipientField = recipientFields.find((each) => each === name)
  return (
    recipientField !== undefined &&
    typeof answer === 'string' &&
    readRecipientField(recipientField, answer).problem === undefined
  )
}

/**
 * Returns the body of a request. It has an entry for each check with at least one answer, in the order of the schema.
 */
export function bodyOf(schema: PackageSchema, fields: readonly FormField[], answers: Answers): DraftBody {
  const recipient = bareObject<FieldValue>()
  const entries = new Map<string, AdditionalInformation>()
  for (const field of fields) {
    const answer = answers.get(field)
    if (answer === undefined) continue
    const target = field.code === undefined ? recipient : fieldsOfCheck(entries, field.code)
    target[field.name] = answer
  }
  const draft: DraftBody = { package_id: schema.id, recipient }
  return entries.size === 0 ? draft : { ...draft, additional_information: [...entries.values()] }
}
