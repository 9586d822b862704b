import type { PackageSchema } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue, RequestBody } from '../../contract/request-body.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import type { Choice, Prompter } from '../../prompt/prompter.ts'
import { askField } from './ask-field.ts'
import { type FormField, formFields } from './fields.ts'
import { refusal, shown } from './problem.ts'
import { answerIn } from './questions.ts'
import { inWords, type ReviewRow, reviewRows } from './review.ts'
import { type DraftBody, validateBody, validateDraft } from './validate.ts'

export interface InterviewOptions {
  /** Draws the answers before each question what to do with them. */
  show?: ((rows: ReviewRow[]) => void) | undefined
  /**
   * False where the person has said yes beforehand: asked for what is required and missing, and nothing else,
   * so that a complete command line with --yes asks nothing on a terminal either.
   */
  review?: boolean | undefined
  /** What saying yes does, as a choice reads: "Create the request". */
  action?: string | undefined
}

type Answers = Map<FormField, FieldValue>

/**
 * Asks a person for what `given` leaves out, shows all answers, lets them change any, and gives back a body
 * that validateBody takes. Throws an InvalidInputError for what is wrong in `given` before any question, and
 * an InterruptedError where the person leaves.
 */
export async function interview(
  prompter: Prompter,
  schema: PackageSchema,
  given: DraftBody,
  { show, review = true, action = 'Create the request' }: InterviewOptions = {},
): Promise<RequestBody> {
  const fields = formFields(schema)
  const answers = answersIn(given, schema, fields)
  const open = fields.filter((field) => !answers.has(field) && (review || field.required))
  for (const field of open) {
    keep(answers, field, await askField(prompter, field))
  }
  if (review) await reviewAnswers(prompter, fields, answers, { show, action })
  const { body, problems } = validateBody(bodyOf(schema, fields, answers), schema)
  if (problems !== undefined) throw refusal(problems, 'Give these values again.')
  return body
}

/** Until the person says yes. */
async function reviewAnswers(
  prompter: Prompter,
  fields: readonly FormField[],
  answers: Answers,
  { show, action }: { show: InterviewOptions['show']; action: string },
): Promise<void> {
  for (;;) {
    show?.(reviewRows(fields, answers))
    const next = await prompter.select({
      message: 'Is this right?',
      choices: nextSteps(fields, answers, action),
    })
    if (next === 'send') return
    if (next === 'leave') throw new InterruptedError('left without creating a request')
    keep(answers, next, await askField(prompter, next, answers.get(next)))
  }
}

function answersIn(given: DraftBody, schema: PackageSchema, fields: readonly FormField[]): Answers {
  const { draft, problems } = validateDraft(given, schema)
  if (problems !== undefined) {
    throw refusal(problems, 'Correct them on the command line, or leave them out to be asked.')
  }
  const answers: Answers = new Map()
  for (const field of fields) keep(answers, field, answerIn(draft, field))
  return answers
}

function keep(answers: Answers, field: FormField, answer: FieldValue | undefined): void {
  if (answer === undefined) answers.delete(field)
  else answers.set(field, answer)
}

function nextSteps(
  fields: readonly FormField[],
  answers: Answers,
  action: string,
): Choice<FormField | 'send' | 'leave'>[] {
  return [
    { value: 'send', label: `Yes. ${action}` },
    ...fields.map((field) => {
      const answer = answers.get(field)
      const owner = field.code === undefined ? '' : `${field.group}: `
      const value = answer === undefined ? 'not given' : shown(inWords(answer))
      return { value: field, label: `Change ${owner}${field.label} (${value})` }
    }),
    { value: 'leave', label: 'Leave, and send nothing' },
  ]
}

/** An entry for each check that has at least one answer, in the schema's order. */
function bodyOf(schema: PackageSchema, fields: readonly FormField[], answers: Answers): DraftBody {
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
