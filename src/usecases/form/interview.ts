import { askField, type AskOptions, isMeant } from './ask-field.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import {
  type Answers,
  answersIn,
  bodyOf,
  changeable,
  keep,
  type NextStep,
  nextSteps,
  stillValid,
} from '../../domain/form/answers.ts'
import { type FormField, formFields } from '../../domain/form/fields.ts'
import { unfinishedLine } from '../../domain/form/command-line.ts'
import type { PhoneRepair } from '../../domain/form/national-phone.ts'
import { refusal } from '../../domain/form/problem.ts'
import { type ReviewRow, reviewRows } from '../../domain/form/review.ts'
import { type DraftBody, validateBody } from '../../domain/form/validate.ts'
import { InterruptedError, PromptBackError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

export interface InterviewOptions {
  /** Draws a page of the answers, counted from 1, before each question what to do with them; answers how many there are. */
  show?: ((rows: ReviewRow[], page: number) => number) | undefined
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
  /** As `YYYY-MM-DD`; what is improbable on that day is asked about. */
  today?: string | undefined
  /**
   * Told as soon as the person is known, and whether more is to be asked; throws where there is nothing to go on with.
   */
  onPerson?: ((body: RequestBody, isMoreAsked: boolean) => Promise<void>) | undefined
  /** Told all answers after each one. */
  onAnswer?: ((draft: DraftBody) => Promise<void>) | undefined
  /** Told that the person wants no more of the answers. */
  onDrop?: (() => Promise<void>) | undefined
  /** Whether back leads from the first question to what was asked before the form; a PromptBackError is thrown then. */
  canGoBack?: boolean | undefined
  /** `given` was kept by an earlier run: what is not valid any more is asked for again. */
  isResumed?: boolean | undefined
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
  options: InterviewOptions = {},
): Promise<RequestBody> {
  const fields = formFields(schema)
  const answers = options.isResumed === true ? stillValid(given, fields) : answersIn(given, schema, fields)
  const form = new Form(prompter, schema, fields, answers, options)
  const { review = true, isFixed = false } = options
  try {
    if (!isFixed) await form.ask(review)
    if (review) await form.review()
  } catch (error) {
    if (!(error instanceof InterruptedError) || isFixed || form.isDropped) throw error
    throw left(error, unfinishedLine(form.draft(), schema))
  }
  const { body, problems } = validateBody(form.draft(), schema)
  if (problems !== undefined) throw refusal(problems, 'Give these values again.', 'flags')
  return body
}

/** Answers are not lost with the person who leaves. */
function left(error: InterruptedError, line: string | undefined): InterruptedError {
  if (error.hint !== undefined) return error
  return new InterruptedError(error.message, { hint: line && `Continue from these answers with: ${line}` })
}

/** Fields and answers of one person, while they are asked for. */
class Form {
  readonly #prompter: Prompter
  readonly #schema: PackageSchema
  readonly #fields: readonly FormField[]
  readonly #answers: Answers
  readonly #options: InterviewOptions
  isDropped = false
  /** The person that was told last. */
  #person = ''

  constructor(
    prompter: Prompter,
    schema: PackageSchema,
    fields: readonly FormField[],
    answers: Answers,
    options: InterviewOptions,
  ) {
    this.#prompter = prompter
    this.#schema = schema
    this.#fields = fields
    this.#answers = answers
    this.#options = options
  }

  draft(): DraftBody {
    return bodyOf(this.#schema, this.#fields, this.#answers)
  }

  /** Asks for what is not answered, or improbable; back leads to the question before. */
  async ask(review: boolean): Promise<void> {
    const open = await this.#open(review)
    if (review || open.length > 0) await this.#meet(open.length > 0)
    const { canGoBack = false } = this.#options
    for (let at = 0; at < open.length;) {
      const field = open[at]
      if (field === undefined) return
      try {
        await this.#answer(field, at > 0 || canGoBack)
        at += 1
        await this.#meet(at < open.length)
      } catch (error) {
        if (!(error instanceof PromptBackError) || at === 0) throw error
        at -= 1
      }
    }
  }

  async #open(review: boolean): Promise<FormField[]> {
    const open: FormField[] = []
    for (const field of this.#fields) {
      const value = this.#answers.get(field)
      const isOpen =
        value === undefined
          ? review || field.required
          : review && !(await isMeant(this.#prompter, field, value, this.#options.today))
      if (isOpen) open.push(field)
    }
    return open
  }

  async #answer(field: FormField, canGoBack: boolean): Promise<void> {
    const { repair, today, onAnswer } = this.#options
    const asking: AskOptions = { current: this.#answers.get(field), repair, canGoBack, today }
    keep(this.#answers, field, await askField(this.#prompter, field, asking))
    await onAnswer?.(this.draft())
  }

  /** Tells of the person once they are known, and again where they have become another. */
  async #meet(isMoreAsked: boolean): Promise<void> {
    const { first_name, last_name, email, phone } = this.draft().recipient
    if (first_name === undefined || last_name === undefined || email === undefined || phone === undefined)
      return
    const recipient = { first_name, last_name, email, phone }
    const person = JSON.stringify(recipient)
    if (person === this.#person) return
    await this.#options.onPerson?.({ package_id: this.#schema.id, recipient }, isMoreAsked)
    this.#person = person
  }

  /** Until the person says yes to the last question. */
  async review(): Promise<void> {
    for (;;) {
      const next = await this.#pages()
      if (next === 'change') await this.#change()
      if (next !== 'send') continue
      const message = await this.#lastQuestion()
      if (message === undefined || (await this.#prompter.confirm({ message, isGrave: true }))) return
      if (this.#options.isFixed === true) throw new InterruptedError('cancelled; nothing was ordered')
    }
  }

  /** Page by page, until the person goes on, changes something or leaves. */
  async #pages(): Promise<'send' | 'change'> {
    const { show, isFixed } = this.#options
    for (let page = 1; ;) {
      const pages = show?.(reviewRows(this.#fields, this.#answers), page) ?? 1
      if (isFixed === true && page >= pages) return 'send'
      const next = await this.#prompter.select<NextStep>({
        message: page < pages ? 'Is everything correct so far?' : 'Is everything correct?',
        choices: nextSteps(page, pages, isFixed),
      })
      if (next === 'send' || next === 'change') return next
      if (next === 'leave' || next === 'drop') throw await this.#leaving(next)
      page = next === 'more' ? page + 1 : 1
    }
  }

  async #leaving(next: 'leave' | 'drop'): Promise<InterruptedError> {
    if (next === 'leave') return new InterruptedError('cancelled; nothing was ordered')
    await this.#options.onDrop?.()
    this.isDropped = true
    return new InterruptedError('cancelled; nothing was ordered, and the answers were dropped')
  }

  async #change(): Promise<void> {
    const field = await this.#prompter.select<FormField | undefined>({
      message: 'Change which answer?',
      narrows: true,
      choices: changeable(this.#fields, this.#answers),
    })
    if (field === undefined) return
    await this.#answer(field, false)
    await this.#meet(false)
  }

  async #lastQuestion(): Promise<string | undefined> {
    const { body } = validateBody(this.draft(), this.#schema)
    return body && this.#options.lastQuestion?.(body)
  }
}
