import { z } from 'zod'

import { isJsonObject } from './parse-json.ts'

/** "string, integer, number, boolean, array, object" ("Package schema"). */
export const fieldTypes = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

/**
 * Parses an object whose keys are names that the service chose. The result has no prototype, so that a field called
 * `__proto__` or `constructor` is treated like any other.
 */
function nameMap<T extends z.ZodType>(value: T) {
  return z.unknown().transform((input, context): Record<string, z.output<T>> => {
    const map = Object.create(null) as Record<string, z.output<T>>
    if (!isJsonObject(input)) {
      context.addIssue({ code: 'invalid_type', expected: 'object', input })
      return z.NEVER
    }
    for (const [name, raw] of Object.entries(input)) {
      const parsed = value.safeParse(raw)
      if (parsed.success) {
        map[name] = parsed.data
      } else {
        for (const issue of parsed.error.issues) {
          context.addIssue({ code: 'custom', message: issue.message, path: [name, ...issue.path], input })
        }
      }
    }
    return map
  })
}

export const recipientFields = ['first_name', 'last_name', 'email', 'phone'] as const
export type RecipientField = (typeof recipientFields)[number]

const recipientFieldDefinition = z.looseObject({ type: z.string(), required: z.boolean() })

export const fieldDefinition = z.looseObject({
  type: z.string(),
  required: z.boolean(),
  description: z.string(),
})
export type FieldDefinition = z.infer<typeof fieldDefinition>

/** A check that needs additional information. `fields` has no prototype. */
export const checkInformation = z.looseObject({
  display_name: z.string(),
  code: z.string(),
  fields: nameMap(fieldDefinition),
})
export type CheckInformation = z.infer<typeof checkInformation>

/** "Package schema": `data` of GET /v1/packages/{id}/schema. */
export const packageSchema = z.looseObject({
  id: z.int(),
  fields: z.looseObject({
    recipient: z.looseObject({
      first_name: recipientFieldDefinition,
      last_name: recipientFieldDefinition,
      email: recipientFieldDefinition,
      phone: recipientFieldDefinition,
    }),
    additional_information: z.array(checkInformation),
  }),
})
export type PackageSchema = z.infer<typeof packageSchema>
