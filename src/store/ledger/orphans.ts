import type { OrphanBook } from '../../domain/batch/second-orders.ts'

/** What was read of requests that events told of and that nobody here ordered. */
export interface Orphans {
  book(): Promise<OrphanBook>
  /** In one step for all processes; `change` answers undefined to leave it as it is. Whether it was changed. */
  update(change: (book: OrphanBook) => OrphanBook | undefined): Promise<boolean>
}
