/**
 * What of a person is shown to an agent: of a name the initial, of an e-mail the first letter and the domain, of a phone the
 * last two digits. The keys are those of the API and of what is printed with --json.
 */
const byKey: Readonly<Record<string, (text: string) => string>> = {
  first_name: maskName,
  last_name: maskName,
  referee_name: maskName,
  email: maskEmail,
  user_email: maskEmail,
  referee_email: maskEmail,
  phone: maskPhone,
  // Cells of a file, before and after they were read.
  value: withheld,
  from: withheld,
  to: withheld,
  suggestion: withheld,
}

/** Of these only names that are known and e-mails are masked, so that they lead somewhere. */
const paths = new Set(['path', 'file', 'folder', 'results_file'])

/** Made here, of nobody. */
const ours = new Set(['code', 'approve_with', 'base_url', 'state', 'status', 'sha256'])

const names = new Set(['first_name', 'last_name', 'referee_name'])

/** All below these is about a person, whatever a service or a schema calls it. */
const personal = new Set(['recipient', 'requester', 'fields'])

/** Says something of a person, or holds one in its text. */
const email = /(?<![^\s"'<>()[\]{},;:])[^\s"'<>()[\]{},;:]+@[^\s"'<>()[\]{},;:]+/gu
const phone = /\+?\d(?:[ ().-]?\d){6,14}/g
/** Our own sentences name a person before the e-mail. */
const named = /(^|: | for | and |, |")((?:(?!: | for | and |, |").)+?) \((?=[^\s()]+@[^\s()]+\))/gu
/** One that is never closed goes to the end. */
const quoted = /"[^"]*(?:"|$)|“[^”]*(?:”|$)/gu
/** Ids and times have as many digits as a phone. */
const kept =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*(?: [+-]\d\d:\d\d)?)?/gi
const word = /[\p{L}\p{M}\p{N}'’-]+/gu

/** No text has one: they are private. */
const mark = '\uF8FF'

const withheldText = '…'

function withheld(): string {
  return withheldText
}

/** `Priya` → `P.`, `Ann Lee` → `A. L.` */
export function maskName(text: string): string {
  const initials = text.match(/[\p{L}\p{N}][\p{M}]*[^\s-]*/gu) ?? []
  return initials.map((each) => `${Array.from(each)[0] ?? ''}.`).join(' ') || withheldText
}

/** `priya@example.com` → `p…@example.com` */
export function maskEmail(text: string): string {
  const at = text.lastIndexOf('@')
  return at < 1 ? withheldText : `${Array.from(text)[0] ?? ''}…${text.slice(at)}`
}

/** `+61412345678` → `…78` */
export function maskPhone(text: string): string {
  const digits = text.replaceAll(/\D/g, '')
  return digits.length < 7 ? withheldText : `${withheldText}${digits.slice(-2)}`
}

/** Words of names that stand in these documents, to be found again in running text. */
export function namesIn(documents: readonly unknown[]): Set<string> {
  const found = new Set<string>()
  const walk = (value: unknown, key: string): void => {
    if (typeof value === 'string' && names.has(key)) for (const each of wordsOf(value)) found.add(each)
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) walk(inner, Array.isArray(value) ? key : name)
  }
  for (const each of documents) walk(each, '')
  return found
}

/** A document with nobody in it who could be recognised; `known`: names that may stand in its texts. */
export function masked(document: unknown, known: ReadonlySet<string>): unknown {
  return maskedAt(document, '', false, known)
}

/** Running text without names that are known, e-mails, phones, and what it quotes. */
export function maskText(text: string, known: ReadonlySet<string>): string {
  const safe: string[] = []
  const keep = (each: string): string => `${mark}${String.fromCharCode(0xe000 + safe.push(each) - 1)}${mark}`
  return text
    .replaceAll(mark, '')
    .replace(kept, keep)
    .replace(named, (_, before: string, name: string) => `${before}${maskName(name)} (`)
    .replace(email, (each) => maskEmail(each))
    .replace(phone, (each) => maskPhone(each))
    .replace(quoted, `"${withheldText}"`)
    .replace(word, (each) => (isKnown(each, known) ? maskName(each) : each))
    .replace(/\uF8FF(.)\uF8FF/gu, (_, at: string) => safe[at.charCodeAt(0) - 0xe000] ?? '')
}

function maskPath(path: string, known: ReadonlySet<string>): string {
  return path
    .replace(email, maskEmail)
    .replace(word, (each) => (isKnown(each, known) ? maskName(each) : each))
}

/** As a whole, or in its parts: file names join names with dashes. */
function isKnown(text: string, known: ReadonlySet<string>): boolean {
  return known.has(folded(text)) || text.split('-').some((part) => known.has(folded(part)))
}

function maskedAt(value: unknown, key: string, isPersonal: boolean, known: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => maskedAt(each, key, isPersonal, known))
  if (typeof value === 'object' && value !== null) {
    const inside = isPersonal || personal.has(key)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, maskedAt(inner, name, inside, known)]),
    )
  }
  if (typeof value === 'string') {
    const mask = Object.hasOwn(byKey, key) ? byKey[key] : undefined
    if (mask !== undefined) return mask(value)
    if (isPersonal) return withheldText
    if (ours.has(key)) return value
    return paths.has(key) ? maskPath(value, known) : maskText(value, known)
  }
  return isPersonal && value !== null ? withheldText : value
}

/** Of a name of several words each; a single letter says nothing, and would be found everywhere. */
function wordsOf(name: string): string[] {
  return (name.match(word) ?? [])
    .flatMap((each) => [each].concat(each.split(/['’-]/)))
    .filter((each) => Array.from(each).length > 1)
    .map(folded)
}

const folded = (text: string): string => text.normalize('NFKC').toLowerCase()
