import { z } from 'zod'

/** "User". `permissions` is present only if the role is member. */
export const user = z.looseObject({
  id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  role: z.string(),
  permissions: z.array(z.string()).optional(),
  teams: z.array(z.looseObject({ id: z.string(), name: z.string() })),
  job_title: z.string(),
})
export type User = z.infer<typeof user>

/** `data` of GET /v1/users. */
export const userList = z.looseObject({ users: z.array(user) })
