import { parseDuration } from '../wording/duration.ts'
import { redactArgument, requireNoApiKey } from '../wording/redact-argument.ts'
import { storeAddress } from '../store/address.ts'
import { retainedSince } from '../store/retention.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'

/** A default that a person sets once, as `config list` shows it. */
export interface SettingDefinition {
  key: string
  /** One line. */
  meaning: string
  example: string
  /** Whether the value may be a path, which is made absolute when it is set. */
  path: boolean
  /** The value as it is kept, always text; an InvalidInputError that says what is wanted. */
  parse(text: string): string
}

const controlCharacter = /\p{Cc}/u

function refused(key: string, text: string, wanted: string): InvalidInputError {
  return new InvalidInputError(`${key}: "${redactArgument(text)}" is not ${wanted}`, {
    field: key,
    hint: `For example: refcheck config set ${key} ${definitionOf(key)?.example ?? ''}`.trim(),
  })
}

function wholeNumber(key: string, max: number, wanted: string): (text: string) => string {
  return (text) => {
    if (/^[1-9]\d{0,14}$/.test(text) && Number(text) <= max) return text
    throw refused(key, text, wanted)
  }
}

function filePath(key: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== '' && text.length <= 4096 && !controlCharacter.test(text)) return text
    throw refused(key, text, 'a path')
  }
}

/** The setting takes what opening takes, but for a password. */
function store(text: string): string {
  const address = storeAddress(text)
  if (address.kind === 'none') {
    throw new InvalidInputError(`store: ${address.why}`, {
      field: 'store',
      hint: 'Give a file, or postgres://user@host:5432/database.',
    })
  }
  if (address.kind === 'postgres' && address.server.password !== undefined) {
    throw new InvalidInputError('store: passwords are refused in the settings', {
      field: 'store',
      hint: 'Put the password in ~/.pgpass or PGPASSWORD, or set REFCHECK_STORE instead.',
    })
  }
  return text
}

/**
 * The name of an account in the one form that is stored and compared, so that no spelling of it makes its people new.
 * Throws InvalidInputError for anything but 1 to 64 of a-z, 0-9, `.`, `_` and `-`.
 */
export function accountName(text: string): string {
  requireNoApiKey(text, 'an account')
  const name = text.trim().toLowerCase()
  if (/^[a-z0-9._-]{1,64}$/.test(name)) return name
  throw refused('account', text, 'a name of 1 to 64 letters a to z, digits and . _ -')
}

/** The same form as a `--timeout`. */
function duration(text: string): string {
  if (parseDuration(text) !== undefined) return text
  throw refused('timeout', text, 'a duration')
}

function country(text: string): string {
  const code = text.toUpperCase()
  const known = /^[A-Z]{2}$/.test(code) && code !== 'ZZ'
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  if (known && names.of(code) !== undefined) return code
  throw refused('default-country', text, 'a two-letter country code')
}

function retention(text: string): string {
  if (retainedSince(text, 0) !== undefined) return text
  throw refused('retention', text, 'a number of days, months or years')
}

/** Its form alone: whether there is such an encoding is looked up when it is set. */
function encoding(text: string): string {
  if (/^[a-z0-9][a-z0-9_:.-]{1,39}$/i.test(text)) return text.toLowerCase()
  throw refused('encoding', text, 'the name of an encoding')
}

export const settingDefinitions: readonly SettingDefinition[] = [
  {
    key: 'package',
    meaning: 'Package to order',
    example: '12',
    path: false,
    parse: wholeNumber('package', Number.MAX_SAFE_INTEGER, 'a package id, a whole number above 0'),
  },
  {
    key: 'output-dir',
    meaning: 'Folder for reports',
    example: 'reports',
    path: true,
    parse: filePath('output-dir'),
  },
  {
    key: 'store',
    meaning: 'Where orders are recorded: a file, or postgres://…',
    example: 'orders.db',
    path: true,
    parse: store,
  },
  {
    key: 'account',
    meaning: 'Whose people these are, where one store serves several organisations',
    example: 'acme',
    path: false,
    parse: accountName,
  },
  {
    key: 'concurrency',
    meaning: 'Number of downloads at a time, 1 to 64',
    example: '4',
    path: false,
    parse: wholeNumber('concurrency', 64, 'a whole number from 1 to 64'),
  },
  {
    key: 'timeout',
    meaning: 'Longest total wait for retries and quota',
    example: '5m',
    path: false,
    parse: duration,
  },
  {
    key: 'encoding',
    meaning: 'Encoding of batch files that are not UTF-8',
    example: 'windows-1252',
    path: false,
    parse: encoding,
  },
  {
    key: 'default-country',
    meaning: 'Country of phone numbers without a country code',
    example: 'AU',
    path: false,
    parse: country,
  },
  {
    key: 'retention',
    meaning:
      'How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y',
    example: '24mo',
    path: false,
    parse: retention,
  },
]

function definitionOf(key: string): SettingDefinition | undefined {
  return settingDefinitions.find((each) => each.key === key)
}

/** The definition of `key`, or a UsageError that names the known ones. */
export function settingDefinition(key: string): SettingDefinition {
  const found = definitionOf(key)
  if (found !== undefined) return found
  throw new UsageError(`no setting named "${redactArgument(key)}"`, {
    hint: `Settings: ${settingDefinitions.map((each) => each.key).join(', ')}`,
  })
}
