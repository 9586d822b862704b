import { z } from 'zod'

/** A line of a worker's log; what else is in it depends on the event. */
export const logged = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(['info', 'warn']),
  event: z.string(),
  reason: z.string().optional().describe('Of a warning'),
})
