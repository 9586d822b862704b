import { parseDuration, retainedSince } from '../wording/time.ts'
import { redactArgument, requireNoApiKey } from '../wording/redact-argument.ts'
import { parseStoreAddress } from '../store/address.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'

/** A default that a person sets once, as `config list` shows it. */
export interface SettingDefinition {
  key: string
  /** One line. */
  meaning: string
  example: string
  /** Whether the value may be a path, which is made absolute when it is set. */
  path?: true
  /** The value as it is stored, always text; an InvalidInputError that says what is wanted. */
  parse(text: string): string
}

const controlCharacter = /\p{Cc}/u

function refused(key: string, text: string, wanted: string): InvalidInputError {
  return new InvalidInputError(`${key}: "${redactArgument(text)}" is not ${wanted}`, {
    field: key,
    hint: `For example: refcheck config set ${key} ${definitionOf(key)?.example ?? ''}`.trim(),
  })
}

/** Parses by `read`, which returns the value as it is stored, or undefined for a text that is not `wanted`. */
function parser(key: string, wanted: string, read: (text: string) => string | undefined) {
  return (text: string): string => {
    const value = read(text)
    if (value === undefined) throw refused(key, text, wanted)
    return value
  }
}

/** The text itself where it fulfils a condition. */
const when = (text: string, isMet: boolean): string | undefined => (isMet ? text : undefined)

const wholeNumber =
  (max: number) =>
  (text: string): string | undefined =>
    when(text, /^[1-9]\d{0,14}$/.test(text) && Number(text) <= max)

/** The setting takes what opening takes, but for a password. */
function store(text: string): string {
  const address = parseStoreAddress(text)
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

function country(text: string): string | undefined {
  const code = text.toUpperCase()
  const known = /^[A-Z]{2}$/.test(code) && code !== 'ZZ'
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return when(code, known && names.of(code) !== undefined)
}

export const settingDefinitions: readonly SettingDefinition[] = [
  {
    key: 'package',
    meaning: 'Package to order',
    example: '12',
    parse: parser('package', 'a package id, a whole number above 0', wholeNumber(Number.MAX_SAFE_INTEGER)),
  },
  {
    key: 'output-dir',
    meaning: 'Folder for reports',
    example: 'reports',
    path: true,
    parse: parser('output-dir', 'a path', (text) =>
      when(text, text.trim() !== '' && text.length <= 4096 && !controlCharacter.test(text)),
    ),
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
    parse: accountName,
  },
  {
    key: 'concurrency',
    meaning: 'Number of downloads at a time, 1 to 64',
    example: '4',
    parse: parser('concurrency', 'a whole number from 1 to 64', wholeNumber(64)),
  },
  {
    key: 'timeout',
    meaning: 'Longest total wait for retries and quota',
    example: '5m',
    // The same form as a `--timeout`.
    parse: parser('timeout', 'a duration', (text) => when(text, parseDuration(text) !== undefined)),
  },
  {
    key: 'encoding',
    meaning: 'Encoding of batch files that are not UTF-8',
    example: 'windows-1252',
    // Its form alone: whether there is such an encoding is looked up when it is set.
    parse: parser('encoding', 'the name of an encoding', (text) =>
      when(text.toLowerCase(), /^[a-z0-9][a-z0-9_:.-]{1,39}$/i.test(text)),
    ),
  },
  {
    key: 'default-country',
    meaning: 'Country of phone numbers without a country code',
    example: 'AU',
    parse: parser('default-country', 'a two-letter country code', country),
  },
  {
    key: 'retention',
    meaning:
      'How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y',
    example: '24mo',
    parse: parser('retention', 'a period such as 365d, 24mo or 2y', (text) =>
      when(text, retainedSince(text, 0) !== undefined),
    ),
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
