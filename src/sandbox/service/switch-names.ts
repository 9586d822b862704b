/** What can be thrown with one word, by hand or at the Nth call. */
export const switchNames = [
  'revoke-key',
  'deactivate-user',
  'no-credits',
  'expire-trial',
  'deactivate-subscription',
  'replace-package',
] as const

export type Switch = (typeof switchNames)[number]
