import { z } from 'zod'

/** "Referee". The document gives the id as a string in one section and "integer or string" in another; both pass, unchanged. */
export const referee = z.looseObject({
  referee_id: z.union([z.string(), z.int()]),
  referee_name: z.string().nullable(),
  referee_email: z.string().nullable(),
  status: z.string(),
  report_pdf_url: z.string().nullable(),
})
export type Referee = z.infer<typeof referee>

/** Ids are compared without case, as UUIDs are. One that comes twice would file two reports as one. */
function requireDistinct(
  what: string,
  field: string,
  ids: readonly (string | number | null)[],
  context: z.RefinementCtx,
) {
  const seen = new Set<string>()
  for (const [index, id] of ids.entries()) {
    const normalised = String(id).toLowerCase()
    if (id !== null && seen.has(normalised))
      context.addIssue({ code: 'custom', path: [index, field], message: `is the id of another ${what}` })
    seen.add(normalised)
  }
}

/** "Check". Which of the optional keys are there depends on `type`. */
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

/** `data` of a 201 to POST /v1/requests. */
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

/** Body of a webhook delivery ("Events"). `error_reason` is there only when the status is ERROR. */
export const webhookEvent = z.looseObject({
  event: z.string(),
  request_id: z.string(),
  status: z.string(),
  error_reason: z.string().optional(),
})
export type WebhookEvent = z.infer<typeof webhookEvent>
