import { bareObject } from '../../contract/parse-json.ts'
import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import type { FieldValue, RequestBody } from '../../contract/request.ts'
import {
  type Answers,
  readAnswers,
  bodyOf,
  changeChoices,
  setAnswer,
  type ReviewChoice,
  reviewChoices,
  validAnswers,
} from '../../domain/form/answers.ts'
import {
  readFieldText,
  type ValueReading,
  isObjectValue,
  startsLikeJson,
  partsOfObject,
  partsOfItems,
  readItems,
  readPair,
  readStructure,
} from '../../domain/form/field-value.ts'
import {
  type FormField,
  formFields,
  titleOf,
  type ReviewRow,
  reviewRows,
  formatValue,
} from '../../domain/form/fields.ts'
import { unfinishedLine } from '../../domain/form/flags.ts'
import { findImplausible } from '../../domain/form/implausible.ts'
import { type PhoneRepair, repairPhone, readRecipientField } from '../../domain/form/recipient.ts'
import { problemsError } from '../../domain/form/problem.ts'
import { type DraftBody, validateBody } from '../../domain/form/validate.ts'
import { personName } from '../../domain/wording/text.ts'
import { DuplicateError, InterruptedError, PromptBackError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

export interface InterviewOptions {
  /** Shows a page of the answers, counted from 1, before each question of the review. Returns the number of pages. */
  showPage?: ((rows: ReviewRow[], page: number) => number) | undefined
  /** False with `--yes`: only missing required values are asked for; a complete command asks nothing. */
  hasReview?: boolean | undefined
  /** True if no answer may be changed: all answers are shown, and only the last question is asked. */
  isFixed?: boolean | undefined
  /** Returns the last question, which the user has to confirm; without it no last question is asked. */
  lastQuestion?: ((body: RequestBody) => Promise<string>) | undefined
  /** Reads phone numbers without + as numbers of the country that the user named. */
  repair?: PhoneRepair | undefined
  /** Today's date as `YYYY-MM-DD`. The user is asked about values that are improbable on this date. */
  today?: string | undefined
  /** Called once the person is complete. `isMoreAsked`: more questions follow. Throws to end the interview. */
  onPerson?: ((body: RequestBody, isMoreAsked: boolean) => Promise<void>) | undefined
  /** Called after each answer, with all answers so far. */
  onAnswer?: ((draft: DraftBody) => Promise<void>) | undefined
  /** Called when the user discards the answers. */
  onDrop?: (() => Promise<void>) | undefined
  /** Whether a question precedes the form. Back at the first question of the form then throws a PromptBackError. */
  canGoBack?: boolean | undefined
  /** The other flags of the command, which the command that continues from the answers repeats. */
  flagsToRepeat?: readonly string[] | undefined
  /** `draft` is a draft of an earlier run: values that are no longer valid are asked for again. */
  isResumed?: boolean | undefined
}

/**
 * Asks for the values that `draft` lacks, shows all answers, lets the user change them, and returns a body that
 * validateBody accepts. Throws an InvalidInputError for invalid values in `draft` before any question, and an
 * InterruptedError if the user leaves.
 */
export async function interview(
  prompter: Prompter,
  schema: PackageSchema,
  draft: DraftBody,
  options: InterviewOptions = {},
): Promise<RequestBody> {
  const form = new Form(prompter, schema, draft, options)
  const { hasReview = true, isFixed = false } = options
  try {
    if (!isFixed) await form.ask(hasReview)
    if (hasReview) await form.review()
  } catch (error) {
    if (!(error instanceof InterruptedError) || isFixed || form.isDropped) throw error
    const command = error.hint === undefined && unfinishedLine(form.draft(), schema, options.flagsToRepeat)
    if (!command) throw error
    throw new InterruptedError(error.message, { hint: `Continue from these answers with: ${command}` })
  }
  const { body, problems } = validateBody(form.draft(), schema)
  if (problems !== undefined) throw problemsError(problems, 'Give these values again.', 'flags')
  return body
}

/** The fields and answers of one person during the interview. */
class Form {
  readonly #prompter: Prompter
  readonly #schema: PackageSchema
  readonly #fields: readonly FormField[]
  readonly #answers: Answers
  readonly #options: InterviewOptions
  /** Whether the user has discarded the answers. */
  isDropped = false
  /** Whether the user has typed an answer, in this or an earlier run. If so, a refused duplicate may be changed. */
  #hasTypedAnswer: boolean
  /** The person with whom `onPerson` was called last, as JSON. */
  #reportedPersonJson = ''

  constructor(prompter: Prompter, schema: PackageSchema, draft: DraftBody, options: InterviewOptions) {
    const fields = formFields(schema)
    this.#prompter = prompter
    this.#schema = schema
    this.#fields = fields
    this.#hasTypedAnswer = options.isResumed === true
    this.#answers = this.#hasTypedAnswer ? validAnswers(draft, fields) : readAnswers(draft, schema, fields)
    this.#options = options
  }

  draft(): DraftBody {
    return bodyOf(this.#schema, this.#fields, this.#answers)
  }

  /** Asks for values that are missing or improbable; back returns to the previous question. */
  async ask(hasReview: boolean): Promise<void> {
    const openFields = await this.#findOpenFields(hasReview)
    if (hasReview || openFields.length > 0) await this.#reportPerson(openFields.length > 0)
    const { canGoBack = false } = this.#options
    for (let index = 0; index < openFields.length;) {
      const field = openFields[index]
      if (field === undefined) return
      try {
        await this.#askAnswer(field, index > 0 || canGoBack)
        index += 1
        await this.#reportPerson(index < openFields.length)
      } catch (error) {
        if (!(error instanceof PromptBackError) || index === 0) throw error
        index -= 1
      }
    }
  }

  async #findOpenFields(hasReview: boolean): Promise<FormField[]> {
    const openFields: FormField[] = []
    for (const field of this.#fields) {
      const value = this.#answers.get(field)
      const isOpen =
        value === undefined
          ? hasReview || field.required
          : hasReview && !(await confirmImprobable(this.#prompter, field, value, this.#options.today))
      if (isOpen) openFields.push(field)
    }
    return openFields
  }

  async #askAnswer(field: FormField, canGoBack: boolean): Promise<void> {
    const { repair, today, onAnswer } = this.#options
    const askOptions: AskOptions = { current: this.#answers.get(field), repair, canGoBack, today }
    this.#hasTypedAnswer = true
    setAnswer(this.#answers, field, await askField(this.#prompter, field, askOptions))
    await onAnswer?.(this.draft())
  }

  /** Calls `onPerson` once the person is known, and again if the person changes. */
  async #reportPerson(isMoreAsked: boolean): Promise<void> {
    const { first_name, last_name, email, phone } = this.draft().recipient
    if (first_name === undefined || last_name === undefined || email === undefined || phone === undefined)
      return
    const recipient = { first_name, last_name, email, phone }
    const personJson = JSON.stringify(recipient)
    if (personJson === this.#reportedPersonJson) return
    try {
      await this.#options.onPerson?.({ package_id: this.#schema.id, recipient }, isMoreAsked)
    } catch (error) {
      if (!(error instanceof DuplicateError) || !this.#hasTypedAnswer) throw error
      return this.#correctAnswers(error)
    }
    this.#reportedPersonJson = personJson
  }

  /**
   * Lets the user change answers that were refused as a duplicate: a mistyped e-mail may be that of another
   * person, who was ordered already.
   */
  async #correctAnswers(refused: DuplicateError): Promise<void> {
    const { message, hint, order } = refused
    for (let isChanged = false; !isChanged;) {
      const choice = await this.#prompter.select<'change' | 'leave' | 'drop'>({
        message: `${this.#recipientName()}: ${message}.`,
        choices: [
          { value: 'change', label: 'Change an answer', detail: hint },
          { value: 'leave', label: 'Leave', detail: 'Nothing is ordered; the answers are kept.' },
          { value: 'drop', label: 'Delete the answers', detail: 'Nothing is ordered.' },
        ],
      })
      if (choice === 'drop') await this.#drop()
      if (choice === 'leave') throw new DuplicateError(message, { hint, order, isUserChoice: true })
      isChanged = choice === 'change' && (await this.#changeAnswer())
    }
  }

  /** Shows the answers until the user confirms the last question. */
  async review(): Promise<void> {
    for (;;) {
      const choice = await this.#reviewPages()
      if (choice === 'change') await this.#changeAnswer()
      if (choice !== 'send') continue
      const message = await this.#lastQuestion()
      if (message === undefined || (await this.#prompter.confirm({ message, isDestructive: true }))) return
      if (this.#options.isFixed === true) throw new InterruptedError('cancelled; nothing was ordered')
    }
  }

  /** Shows the answers page by page, until the user continues, changes an answer or leaves. */
  async #reviewPages(): Promise<'send' | 'change'> {
    const { showPage, isFixed } = this.#options
    for (let page = 1; ;) {
      const pageCount = showPage?.(reviewRows(this.#fields, this.#answers), page) ?? 1
      if (isFixed === true && page >= pageCount) return 'send'
      const choice = await this.#prompter.select<ReviewChoice>({
        message: page < pageCount ? 'Is everything correct so far?' : 'Is everything correct?',
        choices: reviewChoices(page, pageCount, isFixed),
      })
      if (choice === 'send' || choice === 'change') return choice
      if (choice === 'leave') throw new InterruptedError('cancelled; nothing was ordered')
      if (choice === 'drop') await this.#drop()
      else page = choice === 'more' ? page + 1 : 1
    }
  }

  /** Discards the answers if the user confirms it, and ends the interview. */
  async #drop(): Promise<void> {
    const name = this.#recipientName()
    const message = `Delete all answers${name === '' ? '' : ` about ${name}`}?`
    if (!(await this.#prompter.confirm({ message, isDestructive: true }))) return
    await this.#options.onDrop?.()
    this.isDropped = true
    throw new InterruptedError('cancelled; nothing was ordered, and the answers are deleted')
  }

  #recipientName(): string {
    const { first_name = '', last_name = '' } = this.draft().recipient
    return personName({ first_name, last_name })
  }

  /** Asks which answer to change and asks for it again. Returns false if the user chose none. */
  async #changeAnswer(): Promise<boolean> {
    const field = await this.#prompter.select<FormField | undefined>({
      message: 'Change which answer?',
      isSearchable: true,
      choices: changeChoices(this.#fields, this.#answers),
    })
    if (field === undefined) return false
    await this.#askAnswer(field, false)
    await this.#reportPerson(false)
    return true
  }

  async #lastQuestion(): Promise<string | undefined> {
    const { body } = validateBody(this.draft(), this.#schema)
    return body && this.#options.lastQuestion?.(body)
  }
}

interface AskOptions {
  /** The current value. */
  current?: FieldValue | undefined
  repair?: PhoneRepair | undefined
  /** Whether the user may go back to the previous question, which throws a PromptBackError. */
  canGoBack?: boolean | undefined
  /** Today's date as `YYYY-MM-DD`. The user is asked about values that are improbable on this date. */
  today?: string | undefined
}

/** Asks for the value of one field. Returns undefined if the user skips an optional field. */
async function askField(
  prompter: Prompter,
  field: FormField,
  options: AskOptions,
): Promise<FieldValue | undefined> {
  for (let { current } = options; ;) {
    const value = await askOnce(prompter, field, { ...options, current })
    if (value === undefined || (await confirmImprobable(prompter, field, value, options.today))) return value
    current = value
  }
}

/** Asks whether an improbable value is intended. Returns true for a value that is not improbable. */
async function confirmImprobable(
  prompter: Prompter,
  field: FormField,
  value: FieldValue,
  today: string | undefined,
): Promise<boolean> {
  const reason = today === undefined ? undefined : findImplausible(field, value, today)
  return reason === undefined || prompter.confirm({ message: `${reason}. Keep it?` })
}

async function askOnce(
  prompter: Prompter,
  field: FormField,
  { current, repair, canGoBack }: AskOptions,
): Promise<FieldValue | undefined> {
  const { type, required, description } = field
  const question = { label: titleOf(field), required, help: helpOf(field), current, canGoBack }
  if (type === 'array' || type === 'object') return askStructure({ ...question, prompter, type, description })
  const text = await prompter.text({
    message: `${question.label} (${required ? 'required' : 'optional'})`,
    help: question.help,
    initial: current === undefined ? undefined : formatValue(current),
    check: (value) => (value === '' && !required ? undefined : readAnswer(field, value, repair).problem),
    canGoBack,
  })
  return text === '' && !required ? undefined : readAnswer(field, text, repair).value
}

function readAnswer(field: FormField, text: string, repair: PhoneRepair | undefined): ValueReading {
  if (field.code !== undefined) return readFieldText(field, text)
  const name = recipientFields.find((recipientField) => recipientField === field.name)
  if (name === undefined) return { problem: 'is not a field of a recipient' }
  return readRecipientField(name, name === 'phone' ? repairPhone(text, repair) : text)
}

/** The sentence about the expected value, by the type of the field. */
const sentenceByType: ReadonlyMap<string, string> = new Map([
  ['integer', 'A whole number.'],
  ['number', 'A number.'],
  ['boolean', 'Yes or no.'],
])

/** Longer texts would fill the screen below the question. */
const maxHelpLength = 400

function helpOf({ description, type, required }: FormField): string {
  const help = description.slice(0, maxHelpLength).trim()
  const sentence = help === '' || /[.?:]$/.test(help) ? help : `${help}.`
  const isStructure = type === 'array' || type === 'object'
  return [sentence, sentenceByType.get(type), required || isStructure ? undefined : 'Press Enter to skip it.']
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

interface StructureQuestion {
  prompter: Prompter
  type: 'array' | 'object'
  label: string
  required: boolean
  /** The description in the schema, which may list the parts. */
  description: string
  help: string
  /** The current value. */
  current?: FieldValue | undefined
  canGoBack?: boolean | undefined
}

/**
 * Asks for a list item by item, or for an object part by part if its description names the parts. Returns
 * undefined if the user skips an optional value. JSON entered at the first question is the complete value.
 */
async function askStructure(question: StructureQuestion): Promise<FieldValue | undefined> {
  const { type, description } = question
  if (type === 'object') {
    const parts = partsOfObject(description)
    return parts.length === 0 ? askPairs(question) : askParts(question, parts)
  }
  const parts = partsOfItems(description)
  return parts.length === 0 ? askItems(question) : askGroups(question, parts)
}

/** One question about a part of a list or object. */
interface StructureStep {
  message: string
  initial: string | undefined
  help: string
  /** Returns the problem with a typed text. */
  check: (typed: string) => string | undefined
  /** Stores the answer. Returns the index of the next question, or undefined at the end. */
  store: (text: string) => number | undefined
}

/**
 * Asks one question after another. Back returns to the previous question. Returns a value only if the user entered the
 * complete value as JSON at the first question.
 */
async function askInTurn(
  { prompter, type, help, canGoBack = false }: StructureQuestion,
  createStep: (index: number) => StructureStep,
  firstIndex = 0,
): Promise<FieldValue | undefined> {
  for (let index = firstIndex; ;) {
    const step = createStep(index)
    const isJson = (text: string): boolean => index === 0 && startsLikeJson(type, text)
    try {
      const text = await prompter.text({
        message: step.message,
        initial: step.initial,
        help: index === 0 && help !== '' ? `${help} ${step.help}` : step.help,
        canGoBack: index > 0 || canGoBack,
        check: (typed) => (isJson(typed) ? readStructure(type, typed).problem : step.check(typed)),
      })
      if (isJson(text)) return readStructure(type, text).value
      const nextIndex = step.store(text)
      if (nextIndex === undefined) return undefined
      index = nextIndex
    } catch (error) {
      if (!(error instanceof PromptBackError) || index === 0) throw error
      index -= 1
    }
  }
}

async function askParts(
  question: StructureQuestion,
  parts: readonly string[],
  firstIndex = 0,
): Promise<FieldValue | undefined> {
  const { label, required, current } = question
  const values = new Map(isObjectValue(current) ? Object.entries(current) : [])
  const createStep = (index: number): StructureStep => {
    const part = parts[index] ?? ''
    const isLast = index === parts.length - 1
    const partValue = values.get(part)
    const initial = partValue === undefined ? undefined : formatValue(partValue)
    const isNeeded = required && isLast && [...values.keys()].every((name) => name === part)
    return {
      message: `${label}, ${part.replaceAll('_', ' ')} (part ${index + 1} of ${parts.length})`,
      initial,
      help: 'Press Enter to leave this part out.',
      check: (typed) =>
        typed === '' && isNeeded ? 'is empty, but at least one part is required' : undefined,
      store(text) {
        if (text === '') values.delete(part)
        else if (text !== initial) values.set(part, text)
        return isLast ? undefined : index + 1
      },
    }
  }
  const jsonValue = await askInTurn(question, createStep, firstIndex)
  return jsonValue ?? (values.size === 0 ? undefined : bareObject(values))
}

/** Questions that are asked line by line until a line is empty. `noun`: the word for a line, such as `item`. */
interface LineQuestions<Piece> {
  noun: string
  help: string
  /** Whether at least one line is required. */
  isNeeded: boolean
  toText: (piece: Piece) => string
  /** Returns the pieces of one line, or the problem with the line. `others`: the pieces of the other lines. */
  read: (text: string, others: readonly Piece[]) => { pieces: Piece[] } | { problem: string }
}

/** Asks for the lines and stores their values in `pieces`. Returns a value only if the user entered it as JSON. */
function askLines<Piece>(
  question: StructureQuestion,
  pieces: Piece[],
  lines: LineQuestions<Piece>,
): Promise<FieldValue | undefined> {
  const { label, required } = question
  let isLineRemoved = false
  return askInTurn(question, (index) => {
    // The line that follows an emptied one has its number now.
    const removedHelp = isLineRemoved
      ? `The emptied ${lines.noun} was removed; this is the one after it. `
      : ''
    isLineRemoved = false
    const currentPiece = pieces[index]
    const initial = currentPiece === undefined ? undefined : lines.toText(currentPiece)
    const others = pieces.filter((_, otherIndex) => otherIndex !== index)
    return {
      message: `${label}, ${lines.noun} ${index + 1}${index === 0 ? ` (${required ? 'required' : 'optional'})` : ''}`,
      initial,
      help: removedHelp + lines.help,
      check(typed) {
        if (typed === '') return lines.isNeeded && others.length === 0 ? 'is empty, but required' : undefined
        const reading = lines.read(typed, others)
        return 'problem' in reading ? reading.problem : undefined
      },
      store(text) {
        if (text === initial) return index + 1
        const reading = text === '' ? { pieces: [] } : lines.read(text, others)
        const newPieces = 'pieces' in reading ? reading.pieces : []
        pieces.splice(index, 1, ...newPieces)
        isLineRemoved = initial !== undefined && newPieces.length === 0
        // An emptied line is removed, and the line that follows it is asked for next.
        return newPieces.length > 0 || index < pieces.length ? index + newPieces.length : undefined
      },
    }
  })
}

async function askItems(question: StructureQuestion): Promise<FieldValue | undefined> {
  const { current } = question
  const items = Array.isArray(current) ? [...current] : []
  const jsonValue = await askLines<FieldValue>(question, items, {
    noun: 'item',
    isNeeded: false,
    help: 'Press Enter when there are no more.',
    toText: formatValue,
    read(text) {
      const { items: pieces, problem } = readItems(text)
      return problem === undefined ? { pieces } : { problem }
    },
  })
  return jsonValue ?? (items.length > 0 ? items : askIfEmpty(question))
}

/** Asks whether a required list is empty, which is allowed. An empty optional list is skipped. */
async function askIfEmpty(question: StructureQuestion): Promise<FieldValue | undefined> {
  if (!question.required) return undefined
  if (await question.prompter.confirm({ message: `${question.label}: none at all?` })) return []
  return askItems(question)
}

async function askPairs(question: StructureQuestion): Promise<FieldValue | undefined> {
  const { current, required } = question
  const pairs = isObjectValue(current) ? Object.entries(current) : []
  const jsonValue = await askLines<[string, FieldValue]>(question, pairs, {
    noun: 'name and value',
    isNeeded: required,
    help: 'Such as street: 12 High Street. Press Enter when there are no more.',
    toText: ([name, value]) => `${name}: ${formatValue(value)}`,
    read(text, others) {
      const { pair, problem } = readPair(
        text,
        others.map(([name]) => name),
      )
      return problem === undefined ? { pieces: [pair] } : { problem }
    },
  })
  return jsonValue ?? (pairs.length > 0 ? bareObject(pairs) : undefined)
}

/**
 * Asks for a list whose items have parts, part by part. Back returns to the previous part, or to the question whether
 * there is an item.
 */
async function askGroups(
  question: StructureQuestion,
  parts: readonly string[],
): Promise<FieldValue | undefined> {
  const { label, required, current } = question
  const groups: FieldValue[] = Array.isArray(current) ? [...current] : []
  let index = 0
  let step: 'whether an item' | 'parts' | 'last part' = 'whether an item'
  for (;;) {
    try {
      if (step === 'whether an item') {
        const hasItem = groups[index] !== undefined
        if (!(await askForItem(question, index, hasItem))) break
        step = 'parts'
      } else {
        const item = {
          ...question,
          type: 'object',
          label: `${label}, item ${index + 1}`,
          required: true,
          current: groups[index],
          canGoBack: true,
        } as const
        const firstPart = step === 'last part' ? parts.length - 1 : 0
        const group = await askParts(item, parts, firstPart)
        if (group !== undefined) groups[index] = group
        index += 1
        step = 'whether an item'
      }
    } catch (error) {
      if (!(error instanceof PromptBackError) || (step === 'whether an item' && index === 0)) throw error
      if (step === 'whether an item') index -= 1
      step = step === 'whether an item' ? 'last part' : 'whether an item'
    }
  }
  groups.splice(index)
  return groups.length > 0 || required ? groups : undefined
}

/** Asks whether a list has an item, or a further one. The user may go back, as at every question of a form. */
async function askForItem(
  { prompter, label, canGoBack = false }: StructureQuestion,
  index: number,
  hasItem: boolean,
): Promise<boolean> {
  const answer = await prompter.text({
    message: `${label}: ${index === 0 ? 'is there one' : 'another one'}? (y/N)`,
    initial: hasItem ? 'yes' : undefined,
    canGoBack: index > 0 || canGoBack,
    check: (typed) => (typed === '' ? undefined : readYes(typed).problem),
  })
  return answer !== '' && readYes(answer).value === true
}

const readYes = (typed: string) => readFieldText({ type: 'boolean', required: true, description: '' }, typed)
