import type { PackageSchema } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue } from '../../contract/request-body.ts'
import type { FormField } from './fields.ts'
import { refusal, shown } from './problem.ts'
import { answerIn } from './questions.ts'
import { answerInWords } from './review.ts'
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

/** What a person may do at the review, as choices. */
export function nextSteps(
  fields: readonly FormField[],
  answers: Answers,
): { value: FormField | 'send' | 'leave'; label: string }[] {
  return [
    { value: 'send', label: 'Yes, go on' },
    ...fields.map((field) => {
      const answer = answers.get(field)
      const owner = field.code === undefined ? '' : `${field.group}: `
      const value = answer === undefined ? 'not given' : shown(answerInWords(answer))
      return { value: field, label: `Change ${owner}${field.label} (${value})` }
    }),
    { value: 'leave', label: 'Cancel, and send nothing' },
  ]
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
