import { randomBytes, randomUUID } from 'node:crypto'

/** Luck as an input. */
export interface Random {
  uuid(): string
  bytes(count: number): Buffer
  /** A number in [0, 1), for jitter. */
  fraction(): number
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random(),
}
