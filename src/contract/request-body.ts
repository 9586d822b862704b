import { z } from 'zod'

/** A UUID of any version; the document promises no version ("Request", "Check"). */
export const uuid = z.guid()

/** RFC 5321 allows 254 characters in a forward path; longer addresses cannot be delivered to. */
export const emailAddress = z.string().max(254).pipe(z.email())

/** "E.164 format with country calling code; at most 15 digits" (POST /v1/requests). */
export const phoneNumber = z
  .string()
  .max(16)
  .regex(/^\+[1-9]\d{1,14}$/, 'must be + and a country calling code, with at most 15 digits in all')

/** Body of POST /v1/requests, as far as it is the same for every package. */
export const requestBody = z.object({
  package_id: z.int(),
  recipient: z.object({
    first_name: z.string(),
    last_name: z.string(),
    email: emailAddress,
    phone: phoneNumber,
  }),
  additional_information: z
    .array(z.object({ code: z.string(), fields: z.record(z.string(), z.unknown()) }))
    .optional(),
})

/** A value of additional information: whatever JSON can hold. */
export type FieldValue = string | number | boolean | null | FieldValue[] | { [name: string]: FieldValue }

export interface Recipient {
  first_name: string
  last_name: string
  email: string
  phone: string
}

export interface AdditionalInformation {
  code: string
  fields: Record<string, FieldValue>
}

/** Body of POST /v1/requests. */
export interface RequestBody {
  package_id: number
  recipient: Recipient
  additional_information?: AdditionalInformation[]
}
