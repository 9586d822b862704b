import { Flags } from '../oclif.ts'

/** What may be ordered although somebody like it was; the same for every command that takes a file. */
export const allowFlags = {
  'allow-duplicate': Flags.boolean({
    summary: 'Order even if the same was accepted more than 7 days ago',
  }),
  'allow-similar': Flags.boolean({ summary: 'Order rows of this file that are similar to one another' }),
  shared: Flags.string({
    summary: 'An e-mail or phone that many people of this file share; repeatable',
    helpValue: 'VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/** The same as a use case takes it. */
export function allowancesOf(flags: {
  'allow-duplicate': boolean
  'allow-similar': boolean
  shared: string[] | undefined
}): { allowDuplicate: boolean; allowSimilar: boolean; shared: readonly string[] } {
  return {
    allowDuplicate: flags['allow-duplicate'],
    allowSimilar: flags['allow-similar'],
    shared: flags.shared ?? [],
  }
}
