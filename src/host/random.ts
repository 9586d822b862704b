/** Random values, as an input of functions. */
export interface Random {
  uuid(): string
  bytes(count: number): Buffer
  /** A number in [0, 1), for jitter. */
  fraction(): number
}

/** The global Web Crypto: loading node:crypto would add a quarter to the start-up time of Node. */
export const systemRandom: Random = {
  uuid: () => crypto.randomUUID(),
  bytes: (count) => crypto.getRandomValues(Buffer.alloc(count)),
  fraction: () => Math.random(),
}
