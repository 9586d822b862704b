import { Flags } from '../oclif.ts'

/** Flags of every command that saves reports as files. */
export const reportFileFlags = {
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
