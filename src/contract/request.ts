import { z } from 'zod'

/** A UUID of any version, because the API document names no version ("Request", "Check"). */
export const uuid = z.guid()

/** RFC 5321 limits a forward path to 254 characters, so longer addresses cannot receive mail. */
export const emailAddress = z.string().max(254).pipe(z.email())

/** "E.164 format with country calling code; at most 15 digits" (POST /v1/requests). */
export const phoneNumber = z
  .string()
  .max(16)
  .regex(/^\+[1-9]\d{1,14}$/, 'must be + and a country calling code, with at most 15 digits in all')

/** The part of the body of POST /v1/requests that is the same for every package. */
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

/** A value of additional information: any JSON value. */
export type FieldValue = string | number | boolean | null | FieldValue[] | { [name: string]: FieldValue }

export interface Recipient {
  first_name: string
  last_name: string
  email: string
  phone: string
}

/** The parts of a recipient that are known. */
export type KnownPerson = { [name in keyof Recipient]?: string | undefined }

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

/**
 * "Referee". The API document describes the id as a string in one section and as "integer or string" in another. Both
 * types are accepted.
 */
export const referee = z.looseObject({
  referee_id: z.union([z.string(), z.int()]),
  referee_name: z.string().nullable(),
  referee_email: z.string().nullable(),
  status: z.string(),
  report_pdf_url: z.string().nullable(),
})
export type Referee = z.infer<typeof referee>

/**
 * Adds an issue for an id that occurs twice, because two reports would be saved under it. Ids are compared without
 * case, as UUIDs are.
 */
function requireDistinct(
  kind: string,
  field: string,
  ids: readonly (string | number | null)[],
  context: z.RefinementCtx,
) {
  const earlierIds = new Set<string>()
  for (const [index, id] of ids.entries()) {
    const normalised = String(id).toLowerCase()
    if (id !== null && earlierIds.has(normalised))
      context.addIssue({ code: 'custom', path: [index, field], message: `is the id of another ${kind}` })
    earlierIds.add(normalised)
  }
}

/** "Check". `type` determines which of the optional keys are present. */
export const check = z.looseObject({
  id: z.string().nullable(),
  type: z.string(),
  status: z.string(),
  partner_name: z.string().nullish(),
  check_name: z.string().nullish(),
  report_pdf_url: z.string().nullish(),
  references: z
    .array(referee)
    .superRefine((all, context) => {
      requireDistinct(
        'referee',
        'referee_id',
        all.map(({ referee_id }) => referee_id),
        context,
      )
    })
    .optional(),
})
export type Check = z.infer<typeof check>

export const recipient = z.looseObject({
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  phone: z.string(),
})

/** `data` of the 201 response to POST /v1/requests. */
export const createdRequest = z.looseObject({ request_id: z.guid(), status: z.string() })

/** "Request": `data` of GET /v1/requests/{request_id}. */
export const requestResource = z.looseObject({
  request_id: z.guid(),
  package_id: z.int(),
  status: z.string(),
  created_at: z.string(),
  requester: z.looseObject({ email: z.string() }),
  recipient,
  checks: z.array(check).superRefine((all, context) => {
    requireDistinct(
      'check',
      'id',
      all.map(({ id }) => id),
      context,
    )
  }),
})
export type RequestResource = z.infer<typeof requestResource>

/** Body of a webhook delivery ("Events"). `error_reason` is present only if the status is ERROR. */
export const webhookEvent = z.looseObject({
  event: z.string(),
  request_id: z.string(),
  status: z.string(),
  error_reason: z.string().optional(),
})
export type WebhookEvent = z.infer<typeof webhookEvent>
