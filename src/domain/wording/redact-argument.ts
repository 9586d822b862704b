import { apiKeyLength } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

const maxShownLength = 60

/** Less than the 32 characters of an API key ("Authentication", rule 6), so that a part of a key is recognised too. */
const minKeyLength = 20
/** A key has at least this many letters and digits, possibly with punctuation between them. */
const minLettersAndDigits = 16

/** Match runs of characters that may be a key. Each pattern allows fewer characters than the one before. */
const keyPatterns = ['[!-~]', '[!#$%&*+,./:;=?^|~\\w@-]', '[\\w+/=~-]', '[\\w-]', '[A-Za-z\\d]'].map(
  (character) => new RegExp(`${character}{${minKeyLength},}`, 'g'),
)
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi

const consonants = '[b-df-hj-np-tv-xz]'
/** Matches one syllable or several. Words with more consecutive consonants are recognised only between punctuation. */
const syllables = `(?:(?:${consonants}{0,4}[aeiouy]{1,3}){2,}${consonants}{0,4}|${consonants}{0,3}[aeiouy]{1,2}${consonants}{1,4})`
/** Matches words with or without a number after them, and separate numbers, times and file extensions. */
const words = new RegExp(
  [
    String.raw`(?<![A-Za-z\d])(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[A-Za-z]?\d{2,14}[A-Za-z]?)(?![A-Za-z\d])`,
    String.raw`(?:[A-Z]?${syllables}|${syllables.replace(/(?<!\{)[a-z]/g, (letter) => letter.toUpperCase())})(?![a-z])\d{0,8}`,
  ].join('|'),
  'g',
)
const longerThanWords = /[a-z\d]{65}/i
/** Matches runs of letters and digits. Several numbers between the letters of a run indicate a key. */
const alphanumericRun = /[a-z\d]{10,}/gi
const innerNumbers = /(?<=[a-z])\d+(?=[a-z])/gi
/** Matches host names, which are not redacted: a message about a database has to name its host. */
const hostName = /(?<![\w.-])(?:[a-z\d-]{1,63}\.)+[a-z]{2,24}(?![\w.-])/g
/** Matches query parameters whose values are secrets. */
const secretParameter =
  /((?:[?&;#]|%3f|%26)(?:t|[\w-]*(?:token|key|secret|sig|signature|password))(?:=|%3d))[^&#\s"'<>]+/gi

const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\uFFFD]/gu

/**
 * Returns an argument for a message: without keys and tokens that were pasted by mistake, and at most 60 characters.
 */
export function redactArgument(argument: string): string {
  const redacted = redactKeys(argument)
  return redacted.length > maxShownLength ? `${redacted.slice(0, maxShownLength)}…` : redacted
}

/** Replaces every key and token in a text by "…", also those that contain invisible or full-width characters. */
export function redactKeys(text: string): string {
  const withoutKeys = replaceKeys(text)
  const visible = withoutKeys.normalize('NFKC').replace(hidden, '')
  const redacted = replaceKeys(visible)
  return redacted === visible ? withoutKeys : redacted
}

function replaceKeys(text: string): string {
  const replaceRandomRuns = (rest: string, pattern: RegExp): string =>
    rest.replace(pattern, (run) => (isRandom(run) ? '…' : run))
  return keyPatterns.reduce(replaceRandomRuns, text.replace(secretParameter, '$1…'))
}

/** Returns the parts of a text that look like a key or a token. */
export function findKeys(text: string): string[] {
  return keyPatterns.flatMap((pattern) => (text.match(pattern) ?? []).filter(isRandom))
}

/** Whether a text contains a string that looks like an API key and has its length. */
export function containsApiKey(text: string): boolean {
  return findKeys(text).some((each) => each.length === apiKeyLength)
}

/**
 * Throws an InvalidInputError if `name` contains an API key. `what` is the kind of name for the message: "a profile".
 */
export function requireNoApiKey(name: string, what: string): void {
  if (!containsApiKey(name)) return
  throw new InvalidInputError(`what looks like an API key is not a name for ${what}`, {
    hint: 'Give the key to: refcheck auth login',
  })
}

/** Whether most of a run is not part of words, numbers, host names or UUIDs. */
function isRandom(run: string): boolean {
  const rest = run.replace(uuid, '').replace(hostName, '')
  const length = rest.replace(/[^a-z\d]/gi, '').length
  if (length < minLettersAndDigits) return false
  if (longerThanWords.test(rest)) return true
  const lengthOfWords = (rest.match(words) ?? []).join('').length
  const numbers = (rest.match(alphanumericRun) ?? []).flatMap((piece) => piece.match(innerNumbers) ?? [])
  return lengthOfWords < 0.6 * length || numbers.length > 2
}
