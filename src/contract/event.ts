import { z } from 'zod'

/** Body of a webhook delivery ("Events"). `error_reason` is there only when the status is ERROR. */
export const webhookEvent = z.looseObject({
  event: z.string(),
  request_id: z.string(),
  status: z.string(),
  error_reason: z.string().optional(),
})
export type WebhookEvent = z.infer<typeof webhookEvent>
