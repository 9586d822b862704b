import { recipientFields } from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request-body.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { askStructure } from './ask-structure.ts'
import { readFieldText, type ValueReading } from '../../domain/form/field-value.ts'
import { type FormField, titleOf } from '../../domain/form/fields.ts'
import { implausible } from '../../domain/form/implausible.ts'
import { type PhoneRepair, repaired } from '../../domain/form/national-phone.ts'
import { readRecipientField } from '../../domain/form/recipient.ts'
import { valueInWords } from '../../domain/form/review.ts'

export interface AskOptions {
  /** What stands there now. */
  current?: FieldValue | undefined
  repair?: PhoneRepair | undefined
  /** A PromptBackError is thrown where the person wants the question before. */
  canGoBack?: boolean | undefined
  /** As `YYYY-MM-DD`; what is improbable on that day is asked about. */
  today?: string | undefined
}

/** Asks for one field; undefined where an optional one is skipped. */
export async function askField(
  prompter: Prompter,
  field: FormField,
  options: AskOptions = {},
): Promise<FieldValue | undefined> {
  for (let { current } = options; ;) {
    const value = await askOnce(prompter, field, { ...options, current })
    if (value === undefined || (await isMeant(prompter, field, value, options.today))) return value
    current = value
  }
}

/** Asks about what is improbable; true where there is nothing to ask about. */
export async function isMeant(
  prompter: Prompter,
  field: FormField,
  value: FieldValue,
  today: string | undefined,
): Promise<boolean> {
  const doubt = today === undefined ? undefined : implausible(field, value, today)
  return doubt === undefined || prompter.confirm({ message: `${doubt}. Keep it?` })
}

async function askOnce(
  prompter: Prompter,
  field: FormField,
  { current, repair, canGoBack }: AskOptions,
): Promise<FieldValue | undefined> {
  const { type, required, description } = field
  const asked = { label: titleOf(field), required, help: helpOf(field), current, canGoBack }
  if (type === 'array' || type === 'object') return askStructure(prompter, { ...asked, type, description })
  const text = await prompter.text({
    message: `${asked.label} (${required ? 'required' : 'optional'})`,
    help: asked.help,
    initial: current === undefined ? undefined : valueInWords(current),
    check: (value) => (value === '' && !required ? undefined : readAnswer(field, value, repair).problem),
    canGoBack,
  })
  return text === '' && !required ? undefined : readAnswer(field, text, repair).value
}

function readAnswer(field: FormField, text: string, repair: PhoneRepair | undefined): ValueReading {
  if (field.code !== undefined) return readFieldText(field, text)
  const name = recipientFields.find((known) => known === field.name)
  if (name === undefined) return { problem: 'is not a field of a recipient' }
  return readRecipientField(name, name === 'phone' ? repaired(text, repair) : text)
}

const expectations: ReadonlyMap<string, string> = new Map([
  ['integer', 'A whole number.'],
  ['number', 'A number.'],
  ['boolean', 'Yes or no.'],
])

/** More than this would fill the screen below the question. */
const longestHelp = 400

function helpOf({ description, type, required }: FormField): string {
  const told = description.slice(0, longestHelp).trim()
  const ended = told === '' || /[.?:]$/.test(told) ? told : `${told}.`
  const isStructure = type === 'array' || type === 'object'
  return [ended, expectations.get(type), required || isStructure ? undefined : 'Press Enter to skip it.']
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}
