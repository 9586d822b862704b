import { shellWord } from '../../domain/wording/shell-word.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Flags } from '../oclif.ts'

/** What one order says of a person. */
export const bodyFlagDefinitions = {
  'first-name': Flags.string({ summary: 'First name of the person to check', helpValue: 'NAME' }),
  'last-name': Flags.string({ summary: 'Last name', helpValue: 'NAME' }),
  email: Flags.string({ summary: 'E-mail address', helpValue: 'EMAIL' }),
  phone: Flags.string({ summary: 'Phone number, such as +61412345678', helpValue: 'PHONE' }),
  field: Flags.string({
    summary: 'What a check needs beyond the person; repeatable (see: refcheck help orders)',
    helpValue: 'CODE.NAME=VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/** The flags of a person's single fields, as an order takes them. */
export function bodyFlags(
  flags: Record<'first-name' | 'last-name' | 'email' | 'phone', string | undefined> & {
    field: string[] | undefined
  },
) {
  const { 'first-name': firstName, 'last-name': lastName, email, phone, field: fields } = flags
  return { firstName, lastName, email, phone, fields }
}

/** Refuses an order that is given in two ways at once. */
export function requireOneSource(
  flags: Parameters<typeof bodyFlags>[0] &
    Parameters<typeof resumeLine>[0] & { file: string | undefined; resume: boolean },
): void {
  const { file, resume } = flags
  const isGiven = Object.values(bodyFlags(flags)).some((each) => each !== undefined)
  if (file !== undefined && resume) {
    throw new UsageError('--file cannot be combined with --resume', { hint: 'Leave out one of them.' })
  }
  if (file !== undefined && isGiven) {
    throw new UsageError('--file cannot be combined with flags for single fields', {
      hint: 'Put these values into the file, or leave out --file.',
    })
  }
  if (resume && isGiven) {
    throw new UsageError('--resume cannot be combined with flags for single fields', {
      hint: `Change the answers at the review: ${resumeLine(flags)}`,
    })
  }
}

/** The command line that goes on from kept answers, with every flag that changes what it does. */
export function resumeLine(flags: {
  profile: string | undefined
  'default-country': string | undefined
  'dry-run': boolean
  'allow-duplicate': boolean
  'allow-similar': boolean
  wait: boolean
  yes: boolean
}): string {
  const named = (['profile', 'default-country'] as const).flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const given = (['dry-run', 'allow-duplicate', 'allow-similar', 'wait', 'yes'] as const).flatMap((name) =>
    flags[name] ? [`--${name}`] : [],
  )
  return ['refcheck', 'request', 'create', '--resume', ...named, ...given].map(shellWord).join(' ')
}
