import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue } from '../../contract/request-body.ts'
import { checkFieldValue } from './field-value.ts'
import { type FormField, titleOf } from './fields.ts'
import { refusal, shown } from './problem.ts'
import { answerIn } from './implausible.ts'
import { readRecipientField } from './recipient.ts'
import { formatAnswer } from './review.ts'
import { type DraftBody, validateDraft } from './validate.ts'

export type Answers = Map<FormField, FieldValue>

export function answersIn(given: DraftBody, schema: PackageSchema, fields: readonly FormField[]): Answers {
  const { draft, problems } = validateDraft(given, schema)
  if (problems !== undefined) {
    throw refusal(problems, 'Nothing was sent. Correct what is wrong, or leave it out to be asked.', 'flags')
  }
  const answers: Answers = new Map()
  for (const field of fields) keep(answers, field, answerIn(draft, field))
  return answers
}

export function keep(answers: Answers, field: FormField, answer: FieldValue | undefined): void {
  if (answer === undefined) answers.delete(field)
  else answers.set(field, answer)
}

/** What a person may do at the review. */
export type NextStep = 'send' | 'more' | 'again' | 'change' | 'leave' | 'drop'

/** The choices at a page of the review, counted from 1; only the last leads on. */
export function nextSteps(
  page: number,
  pages: number,
  isFixed = false,
): { value: NextStep; label: string }[] {
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
export function changeable(
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

/** What of a kept draft still answers a field; a schema may have changed since. */
export function stillValid(draft: DraftBody, fields: readonly FormField[]): Answers {
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
  const recipient = Object.create(null) as Record<string, FieldValue>
  const entries = new Map<string, AdditionalInformation>()
  for (const field of fields) {
    const answer = answers.get(field)
    if (answer === undefined) continue
    if (field.code === undefined) {
      recipient[field.name] = answer
      continue
    }
    const { code } = field
    const entry = entries.get(code) ?? { code, fields: Object.create(null) as Record<string, FieldValue> }
    entry.fields[field.name] = answer
    entries.set(code, entry)
  }
  const draft: DraftBody = { package_id: schema.id, recipient }
  return entries.size === 0 ? draft : { ...draft, additional_information: [...entries.values()] }
}
