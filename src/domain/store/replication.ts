import type { StoreServer } from './types.ts'

/** What becomes of the last orders when the server is lost and another takes over. */
export const replicationText: Readonly<Record<StoreServer['replication'], string>> = {
  none: 'no standby',
  asynchronous: 'asynchronous standby: one that takes over may have forgotten the last orders',
  synchronous: 'synchronous standby',
}
