import { z } from 'zod'

/** The wrapper of every JSON response ("Errors", envelope). `data` is null in errors. */
export const envelope = z.looseObject({
  data: z.unknown(),
  status_message: z.string(),
  message: z.string(),
})

export type Envelope = z.infer<typeof envelope>

/** `data` of GET /v1/ping. */
export const ping = z.looseObject({ status: z.string() })
