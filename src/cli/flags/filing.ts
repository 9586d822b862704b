import { Flags } from '../oclif.ts'

/** Flags of every command that files reports. */
export const filingFlags = {
  'name-template': Flags.string({
    summary: 'Template for file names, with fields in braces',
    helpValue: 'TEMPLATE',
  }),
  concurrency: Flags.integer({
    helpValue: 'N',
    summary: 'Number of downloads at a time (default 8)',
    min: 1,
    max: 64,
  }),
}

export interface FilingFlags {
  'name-template': string | undefined
  concurrency: number | undefined
  overwrite: boolean
  wait: boolean
  timeout: number | undefined
}
