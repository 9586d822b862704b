import { askField } from './ask-field.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import { type Answers, answersIn, bodyOf, keep, nextSteps } from '../../domain/form/answers.ts'
import { type FormField, formFields } from '../../domain/form/fields.ts'
import { unfinishedLine } from '../../domain/form/command-line.ts'
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
  /** True where nothing may be changed: all is shown, and the last question asked. */
  isFixed?: boolean | undefined
  /** The last question, which a person has to answer with yes; none where absent. */
  lastQuestion?: ((body: RequestBody) => Promise<string>) | undefined
  /** Reads phones without + as of the country that the person named. */
  repair?: PhoneRepair | undefined
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
  { show, review = true, isFixed = false, lastQuestion, repair }: InterviewOptions = {},
): Promise<RequestBody> {
  const fields = formFields(schema)
  const answers = answersIn(given, schema, fields)
  const draft = (): DraftBody => bodyOf(schema, fields, answers)
  const open = isFixed ? [] : fields.filter((field) => !answers.has(field) && (review || field.required))
  try {
    for (const field of open) {
      keep(answers, field, await askField(prompter, field, undefined, repair))
    }
    if (review) {
      const last = async (): Promise<string | undefined> => {
        const { body } = validateBody(draft(), schema)
        return body && lastQuestion?.(body)
      }
      await reviewAnswers(prompter, fields, answers, { show, repair, isFixed, lastQuestion: last })
    }
  } catch (error) {
    throw error instanceof InterruptedError && !isFixed ? left(error, unfinishedLine(draft(), schema)) : error
  }
  const { body, problems } = validateBody(draft(), schema)
  if (problems !== undefined) throw refusal(problems, 'Give these values again.', 'flags')
  return body
}

/** Answers are not lost with the person who leaves. */
function left({ message }: InterruptedError, line: string | undefined): InterruptedError {
  return new InterruptedError(message, { hint: line && `Continue from these answers with: ${line}` })
}

/** Until the person says yes. */
async function reviewAnswers(
  prompter: Prompter,
  fields: readonly FormField[],
  answers: Answers,
  {
    show,
    repair,
    isFixed,
    lastQuestion,
  }: Pick<InterviewOptions, 'show' | 'repair' | 'isFixed'> & {
    lastQuestion: () => Promise<string | undefined>
  },
): Promise<void> {
  for (;;) {
    show?.(reviewRows(fields, answers))
    if (isFixed === true) {
      const message = await lastQuestion()
      if (message === undefined || (await prompter.confirm({ message, isGrave: true }))) return
      throw new InterruptedError('cancelled; nothing was ordered')
    }
    const next = await prompter.select<FormField | 'send' | 'leave'>({
      message: 'Is everything correct?',
      choices: nextSteps(fields, answers),
    })
    if (next === 'leave') throw new InterruptedError('cancelled; nothing was ordered')
    if (next !== 'send') {
      keep(answers, next, await askField(prompter, next, answers.get(next), repair))
      continue
    }
    const message = await lastQuestion()
    if (message === undefined || (await prompter.confirm({ message, isGrave: true }))) return
  }
}
