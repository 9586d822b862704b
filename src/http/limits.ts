import type { HttpLimits } from './types.ts'

/** For JSON exchanges. The lists come unpaged, so a large organisation must fit. */
export const jsonLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 60_000,
  maxBytes: 16 * 1024 * 1024,
}

/** For PDFs: large and slow is allowed, endless is not. */
export const reportLimits: HttpLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  totalMs: 15 * 60_000,
  maxBytes: 2 * 1024 * 1024 * 1024,
}
