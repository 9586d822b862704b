import { apiKeyLength } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

const maxShownLength = 60

/**
 * Less than the 32 characters of an API key ("Authentication", rule 6), so that a part of a key is recognised
 * too.
 */
const minKeyLength = 20
/** A key has at least this many letters and digits, possibly with punctuation between them. */
const minLettersAndDigits = 16

/**
 * Strings that may be a key, from any printable characters to letters and digits only. Each set of characters
 * is a subset of the one before.
 */
const kinds = ['[!-~]', '[!#$%&*+,./:;=?^|~\\w@-]', '[\\w+/=~-]', '[\\w-]', '[A-Za-z\\d]'].map(
  (character) => new RegExp(`${character}{${minKeyLength},}`, 'g'),
)
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi

const consonants = '[b-df-hj-np-tv-xz]'
/** One syllable, or several. Words with longer runs of consonants are recognised only between punctuation. */
const syllables = `(?:(?:${consonants}{0,4}[aeiouy]{1,3}){2,}${consonants}{0,4}|${consonants}{0,3}[aeiouy]{1,2}${consonants}{1,4})`
/** Words and the numbers after them, whole words of one case, numbers and times that stand alone, file extensions. */
const words = new RegExp(
  [
    String.raw`(?<![A-Za-z\d])(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[A-Za-z]?\d{2,14}[A-Za-z]?)(?![A-Za-z\d])`,
    String.raw`(?:[A-Z]?${syllables}|${syllables.replace(/(?<!\{)[a-z]/g, (letter) => letter.toUpperCase())})(?![a-z])\d{0,8}`,
  ].join('|'),
  'g',
)
const longerThanWords = /[a-z\d]{65}/i
/** Runs of letters and digits. Several numbers between their letters indicate a key: names have few. */
const unbroken = /[a-z\d]{10,}/gi
const innerNumbers = /(?<=[a-z])\d+(?=[a-z])/gi
/** Host names, whose labels are checked one by one: a message about a database has to say which. */
const hostName = /(?<![\w.-])(?:[a-z\d-]{1,63}\.)+[a-z]{2,24}(?![\w.-])/g
/** Query parameters whose values are secrets. */
const secretParameter =
  /((?:[?&;#]|%3f|%26)(?:t|[\w-]*(?:token|key|secret|sig|signature|password))(?:=|%3d))[^&#\s"'<>]+/gi

const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\uFFFD]/gu

/** An argument as a message may repeat it, at most 60 characters: a key or token pasted in the wrong place is not echoed. */
export function redactArgument(argument: string): string {
  const shown = redactKeys(argument)
  return shown.length > maxShownLength ? `${shown.slice(0, maxShownLength)}…` : shown
}

/** A text with "…" in the place of all that looks like a key or a token, however it is decorated. */
export function redactKeys(text: string): string {
  const shown = replaceKeys(text)
  const visible = shown.normalize('NFKC').replace(hidden, '')
  const redacted = replaceKeys(visible)
  return redacted === visible ? shown : redacted
}

function replaceKeys(text: string): string {
  const replaceRandomRuns = (rest: string, kind: RegExp): string =>
    rest.replace(kind, (run) => (isRandom(run) ? '…' : run))
  return kinds.reduce(replaceRandomRuns, text.replace(secretParameter, '$1…'))
}

/** Parts of what was typed that look like a key or a token. */
export function findKeys(text: string): string[] {
  return kinds.flatMap((kind) => (text.match(kind) ?? []).filter(isRandom))
}

/** Whether a text, which is to be stored as a name or a setting, contains what can hardly be anything but an API key. */
export function containsApiKey(text: string): boolean {
  return findKeys(text).some((each) => each.length === apiKeyLength)
}

/**
 * Throws an InvalidInputError if `name`, which is to be stored as the name of a `what`, contains an API key.
 */
export function requireNoApiKey(name: string, what: string): void {
  if (!containsApiKey(name)) return
  throw new InvalidInputError(`what looks like an API key is not a name for ${what}`, {
    hint: 'Give the key to: refcheck auth login',
  })
}

/** Whether most of `run` is neither words, numbers nor UUIDs. */
function isRandom(run: string): boolean {
  const rest = run.replace(uuid, '').replace(hostName, '')
  const length = rest.replace(/[^a-z\d]/gi, '').length
  if (length < minLettersAndDigits) return false
  if (longerThanWords.test(rest)) return true
  const inWords = (rest.match(words) ?? []).join('').length
  const numbers = (rest.match(unbroken) ?? []).flatMap((piece) => piece.match(innerNumbers) ?? [])
  return inWords < 0.6 * length || numbers.length > 2
}
