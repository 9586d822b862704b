/** Randomness as an input. */
export interface Random {
  uuid(): string
  bytes(count: number): Buffer
  /** A number in [0, 1), for jitter. */
  fraction(): number
}

/** The global Web Crypto, because node:crypto itself costs every start-up a quarter of bare Node's. */
export const systemRandom: Random = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(Buffer.alloc(count)),
  fraction: () => Math.random(),
}
