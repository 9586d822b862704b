import type { ListFormat } from '../../output/present.ts'
import { Flags } from '../oclif.ts'

/** Flags of every command that answers with a list. */
export const listFlags = {
  csv: Flags.boolean({ summary: 'Print CSV', exclusive: ['json'] }),
  columns: Flags.string({
    summary: 'Print only these columns, in this order',
    helpValue: 'A,B',
    exclusive: ['json'],
  }),
  sort: Flags.string({ summary: 'Sort by a column; -COLUMN sorts in reverse', helpValue: 'COLUMN' }),
  'no-header': Flags.boolean({ summary: 'Omit the header line', exclusive: ['json'] }),
}

interface ListFlags {
  csv: boolean
  columns: string | undefined
  sort: string | undefined
  'no-header': boolean
}

export function listFormat(flags: ListFlags): ListFormat {
  return { csv: flags.csv, columns: flags.columns, sort: flags.sort, header: !flags['no-header'] }
}
