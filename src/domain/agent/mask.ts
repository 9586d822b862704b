import { maskUrl } from '../../contract/mask-url.ts'
import { recipientFields } from '../../contract/package-schema.ts'

/** More than anybody reads of a list. */
const maxItems = 200
const deepest = 30

/** A signed address opens a report for whoever has it. */
const signed = new Set(['report_pdf_url'])
const address = /https?:\/\/[^\s"<>]+/giu

type Redact = (text: string) => string

interface TellingOptions {
  /** Whether personal data is shown as it is. */
  showsPersonalData: boolean
  /** A text without keys, secrets and tokens. */
  redact: Redact
  /** Other documents, with names that may stand in this one's texts. */
  others?: readonly unknown[] | undefined
}

/** A document as an agent is told it, and how many items of lists were left out. */
export interface MaskedDocument {
  data: unknown
  leftOut: number
}

/**
 * What an agent may know of what a command printed: texts plain and short, lists cut, addresses of reports and secrets
 * never, people masked unless they may be shown.
 */
export function redactForAgent(document: unknown, options: TellingOptions): MaskedDocument {
  const counts = { leftOut: 0 }
  const { showsPersonalData, redact, others = [] } = options
  // Before it is masked: what is not seen may stand between the letters of a name.
  const [shown, ...otherDocuments] = [document, ...others].map((each) => plain(each, '', redact, 0))
  const short = cut(shown, counts)
  const data = showsPersonalData ? short : masked(short, namesIn([shown, ...otherDocuments]))
  return { data, leftOut: counts.leftOut }
}

function cut(value: unknown, counts: { leftOut: number }): unknown {
  if (Array.isArray(value)) {
    counts.leftOut += Math.max(0, value.length - maxItems)
    return value.slice(0, maxItems).map((each) => cut(each, counts))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner, counts)]))
}

function plain(value: unknown, key: string, redact: Redact, depth: number): unknown {
  if (depth > deepest) return null
  if (typeof value === 'string') return signed.has(key) ? 'withheld' : plainOf(value, redact)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => plain(each, key, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      plainOf(name, redact),
      plain(inner, name, redact, depth + 1),
    ]),
  )
}

/** A secret is looked for again once what is not seen is gone from between its letters. */
function plainOf(text: string, redact: Redact): string {
  return redact(plainText(redact(text)).replace(address, (each) => maskUrl(each)))
}

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
  // Of a file of one person whose other cells are known, it tells whether a guess is the last cell.
  sha256: withheld,
}

/** Of these only names that are known and e-mails are masked, so that they lead somewhere. */
const paths = new Set(['path', 'file', 'folder', 'results_file'])

/** What columns of a file are called. */
const columnNames = new Set(['map', 'ignore'])

/** Made here, of nobody. */
const ours = new Set(['code', 'approve_with', 'base_url', 'state', 'status'])

const names = new Set(['first_name', 'last_name', 'referee_name'])

/** All below these is about a person, whatever a service or a schema calls it. */
const personal = new Set(['recipient', 'requester', 'fields'])

/** Says something of a person, or holds one in its text. */
const email = /(?<![^\s"'<>()[\]{},;:])[^\s"'<>()[\]{},;:]+@[^\s"'<>()[\]{},;:]+/gu
const domain = /^[\p{L}\p{M}\p{N}.-]+$/u
const phone = /\+?\d(?:[ ().-]?\d){6,14}/g
/** Our own sentences name a person before the e-mail. */
const named = /(^|: | for | and |, |")((?:(?!: | for | and |, |").)+?) \((?=[^\s()]+@[^\s()]+\))/gu
/** A text that `plainText` has cut. */
const isCut = /… \(cut: \d+ characters\)$/
/** Where a sentence of ours goes on with a piece of a file that is not quoted. */
const unquoted =
  /\b(is the error|is of the type|is the number|number format,|round it to|calling code|damaged workbook|not sound XML|may be(?= -?\d)|is(?= (?:TRUE|FALSE) shown)) .*$/su
/** Ids and times have as many digits as a phone. */
const visible =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*(?: [+-]\d\d:\d\d)?)?/gi
const word = /[\p{L}\p{M}\p{N}'’-]+/gu

/**
 * Words of refcheck's own sentences and commands. In lowercase, and in hints in any case, one is no name, also where a person
 * has it as a name (`File`, `An`): masked, no sentence could be read and no command pasted. Names that are often
 * given and seldom used here (`mark`) are left out.
 */
const ownWords = new Set(
  `
  a about above accept accepted account accounts acknowledged active add added additional address addresses
  advance after again agent agents ago all allow allowed already also an and another answer answered answers any
  approve approved approves are argument arguments as ask asked asks at attempt attempts auth away background
  backup backups bad base batch batches be because been before began begins belong belongs between body both break
  but by bytes call calls came can cancel cancelled cannot case cell cells certificate change changed changes
  character characters check checked checks choose clock close closed code codes column columns combined come
  command commands complete completed completion config configuration confirm conflict connection contains
  continue copied copy correct could count counted country counts create created current damaged data database
  date dates day days decision default delete deleted delivered deliveries delivery different differs digits disk
  do doctor does done download downloaded downloading drop dropped dry duplicate duplicates e-mail e-mails each
  earlier either else email emails empty encoding end ended ends entries entry environment error errors even event
  events every example exist exists exit expected expired export failed fails failure fault field fields file
  files fill find finds finished first fix fleet folder folders follow for force format forward forwarded found
  free from full get give given go goes had has have he header held help hex hidden hint hold holds hour hours how
  html http https id ids if import in inbox incomplete information input instead interrupted into invalid is it
  item its itself json keep keeps kept key keychain keys kind known large last later left length less limit line
  lines list listed listen lists local lock locked log login logout logs long longer look looks lost machine
  machines made mail make makes many map mapping match matches may me memory message milliseconds minute minutes
  missing mode more most move moved must my name named names nearest need needed needs network never new newer
  newest next no nobody none nor not nothing now null number numbers of off old older on once one ones only open
  opened option or order ordered ordering orders organisation other others our out outcome output outside over own
  owner package packages part pass password path paths pdf people per permissions person phone phones ping place
  plan planned please port possible prefix print prints private problem problems process processes profile
  profiles program programs proxy purge put queue queued quota quoted quotes ran raw reach reached read reader
  reading reads ready reason received receiver recipient reconcile record recorded records refused release
  released remove removed repeat repeated replace replaced replay report reported reports request requested
  requests require required requires reset resolve restart restore restored restores result results resume retried
  retries retry right rotate row rows rule rules run runner running runs same sandbox save saved say says schema
  schemas script second seconds secret secrets section see seen select send sending sends sent server service
  services set sets setting settings settle several sha she sheet sheets short should show shown shows signature
  similar since single size skip skipped so some somebody something space start started starts state states status
  stays stdin still stop stopped stops store stored stores string sure survey switch switched sync system table
  take taken takes tell tells template terminal test than that the their them then there these they this those
  through time timed times to token too tries trigger try twice two type typed types unavailable under unfinished
  unique unknown until up update updated url use used user users uses value values verified verify version wait
  waiting waits want was watch way we webhook were what when where whether which while who whole whose will window
  with within without words work workbook worker workers works write writes written wrong xlsx year yes yet you
  your
  `
    .trim()
    .split(/\s+/),
)

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
  // What no domain can be is not shown: a cell may hold an @ and be no address.
  return at < 1 || !domain.test(text.slice(at + 1))
    ? withheldText
    : `${Array.from(text)[0] ?? ''}…${text.slice(at)}`
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

const readingHint =
  'Say how the file is read with map, ignore, sheet, header_row, encoding or hidden. A person sees its columns and sheets with: refcheck batch validate FILE'

/** Failures that differ by whether the file has the columns that map and ignore name. */
const ofColumns = /--map|--ignore|\bcolumns?\b|looks like a title/

/**
 * Why a file cannot be read, without names of its columns and sheets: a hint lists them as flags that can be pasted, and
 * where a line of data is taken for the header each is a cell. Where the agent `namesColumns`, one sentence stands for every
 * failure of columns: with two of them it could try values until one is a cell.
 */
export function maskFileFailure(document: unknown, namesColumns: boolean): unknown {
  if (typeof document !== 'object' || document === null || Object.keys(document).join(' ') !== 'error')
    return document
  const { error } = document as { error: Record<string, unknown> }
  if (error['code'] !== 'invalid_input' && error['code'] !== 'usage') return document
  const { field, ...rest } = error
  if (namesColumns && ofColumns.test(String(error['message']))) {
    const message =
      'map and ignore do not fit the file: they name a column that it does not have, or one is unknown, missing or there twice'
    return { error: { code: 'invalid_input', message, hint: readingHint } }
  }
  const isRecipientField = recipientFields.some((name) => name === field)
  return { error: { ...rest, hint: readingHint, ...(isRecipientField && { field }) } }
}

/** Running text without names that are known, e-mails, phones, and what it quotes. Only refcheck itself writes a hint. */
export function maskText(text: string, known: ReadonlySet<string>, isHint = false): string {
  const safe: string[] = []
  const keep = (each: string): string => `${mark}${String.fromCharCode(0xe000 + safe.push(each) - 1)}${mark}`
  return withoutQuoted(text.replaceAll(mark, ''))
    .replace(unquoted, `$1 ${withheldText}`)
    .replace(visible, keep)
    .replace(named, (_, before: string, name: string) => `${before}${maskName(name)} (`)
    .replace(email, (each) => maskEmail(each))
    .replace(phone, (each) => maskPhone(each))
    .replace(word, (each) =>
      isKnown(each, known) && !isOwn(isHint ? each.toLowerCase() : each, known) ? maskName(each) : each,
    )
    .replace(/\uF8FF(.)\uF8FF/gu, (_, at: string) => safe[at.charCodeAt(0) - 0xe000] ?? '')
}

/** From the first quotation mark to the last, since what is quoted may hold some; one that is never closed goes to the end. */
function withoutQuoted(text: string): string {
  const first = text.search(/["“]/u)
  if (first === -1) return text
  const last = Math.max(text.lastIndexOf('"'), text.lastIndexOf('”'))
  const rest = last <= first || isCut.test(text) ? '' : text.slice(last + 1)
  return `${text.slice(0, first)}"${withheldText}"${rest}`
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

/** A word of ours, or a flag of which each part that is a name is one as well. */
function isOwn(text: string, known: ReadonlySet<string>): boolean {
  if (!text.startsWith('--')) return ownWords.has(text)
  return text.split('-').every((part) => !known.has(part) || ownWords.has(part))
}

function maskedAt(value: unknown, key: string, isPersonal: boolean, known: ReadonlySet<string>): unknown {
  if (columnNames.has(key)) return withheldText
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
    return paths.has(key) ? maskPath(value, known) : maskText(value, known, key === 'hint')
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

/** What a text from elsewhere may be long at most before it is cut. */
export const longestText = 600

const blank = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
/** What is not seen and may hide or turn words: zero-width, bidi, tags, selectors of variants, fillers, private and unpaired ones. */
const unseen = /[\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu

/** A text as a program may read it: one line, nothing hidden, no longer than `longestText` and a word about the rest. */
export function plainText(text: string): string {
  const shown = text
    .slice(0, 20 * longestText)
    .replace(unseen, '')
    .replace(blank, ' ')
    .trim()
  const characters = Array.from(shown)
  if (characters.length <= longestText && text.length <= 20 * longestText) return shown
  return `${characters.slice(0, longestText).join('')}… (cut: ${text.length} characters)`
}
