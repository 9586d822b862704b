import { recipientFields } from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request-body.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { askStructure } from './ask-structure.ts'
import { readFieldText, type ValueReading } from '../../domain/form/field-value.ts'
import type { FormField } from '../../domain/form/fields.ts'
import { type PhoneRepair, repaired } from '../../domain/form/national-phone.ts'
import { readRecipientField } from '../../domain/form/recipient.ts'
import { valueInWords } from '../../domain/form/review.ts'

/** Asks for one field; undefined where an optional one is skipped. `current` is what stands there now. */
export async function askField(
  prompter: Prompter,
  field: FormField,
  current?: FieldValue,
  repair?: PhoneRepair,
): Promise<FieldValue | undefined> {
  const { type, required } = field
  if (isStructure(type)) {
    return askStructure(prompter, { type, label: titleOf(field), required, help: helpOf(field), current })
  }
  const text = await prompter.text({
    message: `${titleOf(field)} (${required ? 'required' : 'optional'})`,
    help: helpOf(field),
    initial: current === undefined ? undefined : valueInWords(current),
    check: (value) => (value === '' && !required ? undefined : readAnswer(field, value, repair).problem),
  })
  return text === '' && !required ? undefined : readAnswer(field, text, repair).value
}

function isStructure(type: string): type is 'array' | 'object' {
  return type === 'array' || type === 'object'
}

function readAnswer(field: FormField, text: string, repair: PhoneRepair | undefined): ValueReading {
  if (field.code !== undefined) return readFieldText(field, text)
  const name = recipientFields.find((known) => known === field.name)
  if (name === undefined) return { problem: 'is not a field of a recipient' }
  return readRecipientField(name, name === 'phone' ? repaired(text, repair) : text)
}

function titleOf({ code, group, label }: FormField): string {
  return code === undefined ? label : `${group}: ${label}`
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
  return [
    ended,
    expectations.get(type),
    required || isStructure(type) ? undefined : 'Press Enter to skip it.',
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}
