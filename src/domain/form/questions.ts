import type { PackageSchema } from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request-body.ts'
import { type FormField, formFields } from './fields.ts'
import type { DraftBody } from './validate.ts'

/** What a request of this package is still to be asked for: the recipient first, then in the schema's order. */
export function questionsFor(schema: PackageSchema, given: DraftBody): FormField[] {
  return formFields(schema).filter((field) => answerIn(given, field) === undefined)
}

/** The value a body has for a field. */
export function answerIn(body: DraftBody, { code, name }: FormField): FieldValue | undefined {
  const names =
    code === undefined
      ? body.recipient
      : body.additional_information?.find((entry) => entry.code === code)?.fields
  return names !== undefined && Object.hasOwn(names, name)
    ? (names as Record<string, FieldValue>)[name]
    : undefined
}
