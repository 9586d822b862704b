/** A quota that only the throttle cases use up. */
export const largeQuota = [
  { calls: 100_000, seconds: 60 },
  { calls: 1_000_000, seconds: 3600 },
]

/** A quota that a case uses up with few calls. */
export const smallQuota = [
  { calls: 6, seconds: 60 },
  { calls: 40, seconds: 3600 },
]
