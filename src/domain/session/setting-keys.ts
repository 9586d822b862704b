import { parseDuration, retentionStart } from '../wording/time.ts'
import { redactArgument, requireNoApiKey } from '../wording/redact-argument.ts'
import { parseStoreAddress } from '../store/address.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'

/** A setting of `refcheck config`: a default value for commands. */
export interface SettingDefinition {
  key: string
  /** One line for `config list`. */
  meaning: string
  example: string
  /** Whether the value may be a path, which is made absolute when it is set. */
  isPath?: true
  /** Returns the text that is stored. Throws an InvalidInputError that describes the valid values. */
  parse(text: string): string
}

const controlCharacter = /\p{Cc}/u

function invalidSetting(key: string, text: string, wanted: string): InvalidInputError {
  return new InvalidInputError(`${key}: "${redactArgument(text)}" is not ${wanted}`, {
    field: key,
    hint: `For example: refcheck config set ${key} ${definitionOf(key)?.example ?? ''}`.trim(),
  })
}

/** Returns a parser that calls `read`, and throws an InvalidInputError if `read` returns undefined. */
function createParser(key: string, wanted: string, read: (text: string) => string | undefined) {
  return (text: string): string => {
    const value = read(text)
    if (value === undefined) throw invalidSetting(key, text, wanted)
    return value
  }
}

/** Returns the text, or undefined if the condition is not met. */
const textIf = (text: string, isMet: boolean): string | undefined => (isMet ? text : undefined)

const wholeNumber =
  (max: number) =>
  (text: string): string | undefined =>
    textIf(text, /^[1-9]\d{0,14}$/.test(text) && Number(text) <= max)

/** Accepts every address with which a store can be opened, unless it contains a password. */
function parseStore(text: string): string {
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
 * Returns the name of an account in lower case. People are compared within one account, so that two spellings of its
 * name must not become two accounts. Throws InvalidInputError for anything but 1 to 64 of a-z, 0-9, `.`, `_` and `-`.
 */
export function parseAccountName(text: string): string {
  requireNoApiKey(text, 'an account')
  const name = text.trim().toLowerCase()
  if (/^[a-z0-9._-]{1,64}$/.test(name)) return name
  throw invalidSetting('account', text, 'a name of 1 to 64 letters a to z, digits and . _ -')
}

function parseCountry(text: string): string | undefined {
  const code = text.toUpperCase()
  const isCode = /^[A-Z]{2}$/.test(code) && code !== 'ZZ'
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return textIf(code, isCode && names.of(code) !== undefined)
}

export const settingDefinitions: readonly SettingDefinition[] = [
  {
    key: 'package',
    meaning: 'Package to order',
    example: '12',
    parse: createParser(
      'package',
      'a package id, a whole number above 0',
      wholeNumber(Number.MAX_SAFE_INTEGER),
    ),
  },
  {
    key: 'output-dir',
    meaning: 'Folder for reports',
    example: 'reports',
    isPath: true,
    parse: createParser('output-dir', 'a path', (text) =>
      textIf(text, text.trim() !== '' && text.length <= 4096 && !controlCharacter.test(text)),
    ),
  },
  {
    key: 'store',
    meaning: 'Where orders are recorded: a file, or postgres://…',
    example: 'orders.db',
    isPath: true,
    parse: parseStore,
  },
  {
    key: 'account',
    meaning: 'Whose people these are, where one store serves several organisations',
    example: 'acme',
    parse: parseAccountName,
  },
  {
    key: 'concurrency',
    meaning: 'Number of downloads at a time, 1 to 64',
    example: '4',
    parse: createParser('concurrency', 'a whole number from 1 to 64', wholeNumber(64)),
  },
  {
    key: 'timeout',
    meaning: 'Longest total wait for retries and quota',
    example: '5m',
    // The value has the same form as that of `--timeout`.
    parse: createParser('timeout', 'a duration', (text) => textIf(text, parseDuration(text) !== undefined)),
  },
  {
    key: 'encoding',
    meaning: 'Encoding of batch files that are not UTF-8',
    example: 'windows-1252',
    // Only the form is checked here. `config set` checks whether the encoding exists.
    parse: createParser('encoding', 'the name of an encoding', (text) =>
      textIf(text.toLowerCase(), /^[a-z0-9][a-z0-9_:.-]{1,39}$/i.test(text)),
    ),
  },
  {
    key: 'default-country',
    meaning: 'Country of phone numbers without a country code',
    example: 'AU',
    parse: createParser('default-country', 'a two-letter country code', parseCountry),
  },
  {
    key: 'retention',
    meaning:
      'How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y',
    example: '24mo',
    parse: createParser('retention', 'a period such as 365d, 24mo or 2y', (text) =>
      textIf(text, retentionStart(text, 0) !== undefined),
    ),
  },
]

function definitionOf(key: string): SettingDefinition | undefined {
  return settingDefinitions.find((each) => each.key === key)
}

/** Returns the definition of a setting. Throws a UsageError that lists all settings if there is none with this key. */
export function settingDefinition(key: string): SettingDefinition {
  const definition = definitionOf(key)
  if (definition !== undefined) return definition
  throw new UsageError(`no setting named "${redactArgument(key)}"`, {
    hint: `Settings: ${settingDefinitions.map((each) => each.key).join(', ')}`,
  })
}
