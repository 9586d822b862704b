/** Large enough that nothing but the throttle cases notices it. */
export const roomy = [
  { calls: 100_000, seconds: 60 },
  { calls: 1_000_000, seconds: 3600 },
]

/** Small enough to be used up quickly. */
export const tight = [
  { calls: 6, seconds: 60 },
  { calls: 40, seconds: 3600 },
]
