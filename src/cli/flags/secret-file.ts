import { Flags } from '../oclif.ts'

/** For commands that sign or verify: a file that holds the webhook secret and nothing else. */
export const secretFileFlag = Flags.string({
  summary: 'Read the webhook secret from a file that only you can read',
  helpValue: 'FILE',
})
