import type { Engine } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'
import type { Holds } from './holds.ts'
import type { RollbackDetection } from './rollback-detection.ts'

/** What all parts of a store work with. */
export interface StoreContext {
  engine: Engine
  key: StoreKey
  holds: Holds
  rollbacks: RollbackDetection
}

export class StorePart {
  protected readonly engine: Engine
  protected readonly key: StoreKey
  protected readonly holds: Holds
  protected readonly rollbacks: RollbackDetection

  constructor({ engine, key, holds, rollbacks }: StoreContext) {
    this.engine = engine
    this.key = key
    this.holds = holds
    this.rollbacks = rollbacks
  }
}
