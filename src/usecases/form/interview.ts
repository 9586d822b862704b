import { askField } from './ask-field.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import { type Answers, answersIn, bodyOf, keep, nextSteps } from '../../domain/form/answers.ts'
import { type FormField, formFields } from '../../domain/form/fields.ts'
import type { PhoneRepair } from '../../domain/form/national-phone.ts'
import { refusal } from '../../domain/form/problem.ts'
import { type ReviewRow, reviewRows } from '../../domain/form/review.ts'
import { type DraftBody, validateBody } from '../../domain/form/validate.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

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
  /** Reads phones without + as of the country that the person named. */
  repair?: PhoneRepair | undefined
  /** What speaks against these answers, for the final question: Enter alone means no then. */
  doubt?: ((body: RequestBody) => Promise<string | undefined>) | undefined
}

/**
 * Asks a person for what `given` leaves out, shows all answers, lets them change any, and gives back a body
 * that validateBody takes. Throws an InvalidInputError for what is wrong in `given` before any question, and
 * an InterruptedError where the person leaves.
 */
export async function interview(
  prompter: Prompter,
  schema: PackageSchema,
  given: DraftBody,
  { show, review = true, action = 'Create the request', repair, doubt }: InterviewOptions = {},
): Promise<RequestBody> {
  const fields = formFields(schema)
  const answers = answersIn(given, schema, fields)
  const open = fields.filter((field) => !answers.has(field) && (review || field.required))
  for (const field of open) {
    keep(answers, field, await askField(prompter, field, undefined, repair))
  }
  const doubtOf = async (): Promise<string | undefined> => {
    const { body } = validateBody(bodyOf(schema, fields, answers), schema)
    return body && doubt?.(body)
  }
  if (review) await reviewAnswers(prompter, fields, answers, { show, action, repair, doubtOf })
  const { body, problems } = validateBody(bodyOf(schema, fields, answers), schema)
  if (problems !== undefined) throw refusal(problems, 'Give these values again.', 'flags')
  return body
}

/** Until the person says yes. */
async function reviewAnswers(
  prompter: Prompter,
  fields: readonly FormField[],
  answers: Answers,
  {
    show,
    action,
    repair,
    doubtOf,
  }: Pick<InterviewOptions, 'show' | 'repair'> & {
    action: string
    doubtOf: () => Promise<string | undefined>
  },
): Promise<void> {
  for (;;) {
    show?.(reviewRows(fields, answers))
    const doubt = await doubtOf()
    const next = await prompter.select<FormField | 'send' | 'leave'>({
      message: doubt === undefined ? 'Is everything correct?' : `${doubt} Order anyway?`,
      choices: nextSteps(fields, answers, action),
      initial: doubt === undefined ? undefined : 'leave',
    })
    if (next === 'send') return
    if (next === 'leave') throw new InterruptedError('cancelled; nothing was ordered')
    keep(answers, next, await askField(prompter, next, answers.get(next), repair))
  }
}
