import { z } from 'zod'

/** RFC 5321 allows 254 characters in a forward path; longer addresses cannot be delivered to. */
export const emailAddress = z.string().max(254).pipe(z.email())
