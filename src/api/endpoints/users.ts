import { type User, userList } from '../../contract/user.ts'
import type { ApiClient } from '../client.ts'

/** GET /v1/users. */
export async function listUsers(client: ApiClient, signal: AbortSignal | undefined): Promise<User[]> {
  return (await client.get('/v1/users', userList, { signal })).users
}
