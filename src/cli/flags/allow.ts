import type { Allowed } from '../../domain/batch/file-command.ts'
import { Flags } from '../oclif.ts'

/** What may be ordered although somebody like it was; the same for every command that takes a file. */
export const allowFlags = {
  'allow-duplicate': Flags.boolean({
    summary: 'Order people again who were accepted more than 7 days ago',
  }),
  'allow-similar': Flags.boolean({ summary: 'Order rows of this file that are similar to one another' }),
  shared: Flags.string({
    summary: 'An e-mail or phone that many people of this file share; repeatable',
    helpValue: 'VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'ignore-results': Flags.boolean({ summary: 'Order rows even if a results file says they were ordered' }),
}

/** The same as a use case takes it. */
export function allowancesOf(flags: {
  'allow-duplicate': boolean
  'allow-similar': boolean
  shared: string[] | undefined
  'ignore-results': boolean
}): Allowed {
  return {
    allowDuplicate: flags['allow-duplicate'],
    allowSimilar: flags['allow-similar'],
    shared: flags.shared ?? [],
    ignoreResults: flags['ignore-results'],
  }
}
