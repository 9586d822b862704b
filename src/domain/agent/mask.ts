import { maskUrl } from '../../contract/url.ts'
import { recipientFields } from '../../contract/package-schema.ts'
import { packageStatuses } from '../../contract/package.ts'
import { checkStatuses, checkTypes, refereeStatuses, requestStatuses } from '../../contract/statuses.ts'
import { submissionStates } from '../submission/states.ts'
import { batchFileWords, formWords, ownWords } from './words.ts'

/** Maximum number of items of a list; longer lists are cut. */
const maxItems = 200
/** Maximum depth of nested values; a deeper value becomes null. */
const maxDepth = 30

/** Fields that hold a signed URL, which opens a report without a key. */
const signedUrlKeys = new Set(['report_pdf_url'])
const httpAddress = /https?:\/\/[^\s"<>]+/giu

type Redact = (text: string) => string

interface RedactOptions {
  /** Whether personal data is not masked. */
  showsPersonalData: boolean
  /** Removes keys, secrets and tokens from a text. */
  redact: Redact
  /** Other documents. The names of their people are masked in the texts of this document too. */
  others?: readonly unknown[] | undefined
  /** The packages of the account, whose names of checks and providers are shown. */
  packages?: unknown
  /** The folder into which reports are downloaded for the agent. */
  reportsFolder?: string | undefined
}

/** A document in the form that an agent receives, and the number of list items that were left out. */
export interface MaskedDocument {
  data: unknown
  leftOut: number
}

/**
 * Removes from a printed document what an agent must not receive. Texts become plain and are cut, lists are cut, signed
 * URLs and secrets are removed, and people are masked unless `showsPersonalData` is set.
 */
export function redactForAgent(document: unknown, options: RedactOptions): MaskedDocument {
  const counts = { leftOut: 0 }
  const { showsPersonalData, redact, others = [], packages, reportsFolder } = options
  // Texts become plain before they are masked, because invisible characters may separate the letters of a name.
  const [plainDocument, ...otherDocuments] = [document, ...others].map((each) =>
    plainValue(each, '', redact, 0),
  )
  const cutDocument = cutLists(plainDocument, counts)
  const names = { checkNames: namesOfChecks(plainValue(packages, '', redact, 0)), reportsFolder }
  const data = showsPersonalData
    ? cutDocument
    : maskDocument(cutDocument, nameWordsIn([plainDocument, ...otherDocuments]), names)
  return { data, leftOut: counts.leftOut }
}

function cutLists(value: unknown, counts: { leftOut: number }): unknown {
  if (Array.isArray(value)) {
    counts.leftOut += Math.max(0, value.length - maxItems)
    return value.slice(0, maxItems).map((each) => cutLists(each, counts))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutLists(inner, counts)]))
}

function plainValue(value: unknown, key: string, redact: Redact, depth: number): unknown {
  if (depth > maxDepth) return null
  if (typeof value === 'string') return signedUrlKeys.has(key) ? 'withheld' : redactPlain(value, redact)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => plainValue(each, key, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      redactPlain(name, redact),
      plainValue(inner, name, redact, depth + 1),
    ]),
  )
}

/** Redacts twice, because a secret may be found only after the invisible characters between its letters are removed. */
function redactPlain(text: string, redact: Redact): string {
  return redact(plainText(redact(text)).replace(httpAddress, (each) => maskUrl(each)))
}

/**
 * The masks of personal data by key: a name becomes initials, an e-mail its first letter and its domain, a phone its
 * last two digits. The keys are those of the API and of the output of --json.
 */
const maskByKey: Readonly<Record<string, (text: string) => string>> = {
  first_name: maskName,
  last_name: maskName,
  referee_name: maskName,
  email: maskEmail,
  user_email: maskEmail,
  referee_email: maskEmail,
  phone: maskPhone,
  // Cells of a file, before and after they are read.
  value: withheld,
  from: withheld,
  to: withheld,
  suggestion: withheld,
  // The digest of a file could confirm a guess of one cell, if the other cells of the file are known.
  sha256: withheld,
}

/** Paths and names of files: `batch` of a line about a batch is its file's name. */
const pathKeys = new Set(['path', 'file', 'folder', 'results_file', 'batch'])

/** Fields that contain the name of a batch's file. */
const batchFileKeys = new Set(['batch', 'results_file'])

/** Fields that contain names of columns. */
const columnNameKeys = new Set(['map', 'ignore'])

/** Values that refcheck generates without personal data. */
const generatedValueKeys = new Set(['code', 'approve_with', 'base_url', 'state'])

/** Values of the service, or counts by such values. Only words that the API document or refcheck defines are shown. */
const definedWordKeys = new Set(['status', 'statuses', 'by_type', 'type'])

/** Fields of a check, in which the service may write any text. A text is shown only if a package of the account has it. */
const checkNameKeys = new Set(['check_name', 'partner_name'])
/** A time at which an order can have been created, unlike a date of birth. */
const creationTime = /^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

const idKeys = new Set(['id', 'check_id', 'request_id', 'batch_id'])
const refereeId = /^\d{1,8}$/

/** Fields that may contain a text of the service, which may repeat values of the order. */
const reasonKeys = new Set(['reason', 'error', 'error_reason'])

const nameKeys = new Set(['first_name', 'last_name', 'referee_name'])

/** Fields whose whole content is about a person, whatever keys a service or schema uses in it. */
const personalKeys = new Set(['recipient', 'requester', 'fields'])

/** Patterns of personal data in running text. */
const emailPattern = /(?<![^\s"'<>()[\]{},;:])[^\s"'<>()[\]{},;:][^\s"<>()[\]{},;:]*@[^\s"'<>()[\]{},;:]+/gu
const domainPattern = /^[\p{L}\p{M}\p{N}.-]+$/u
const phonePattern = /\+?\d(?:[ ()._-]?\d){6,}/g
/** Sentences of refcheck contain a name followed by the e-mail in parentheses. */
const nameBeforeEmail = /(^|: | for | and |, |")((?:(?!: | for | and |, |").)+?) \((?=[^\s()]+@[^\s()]+\))/gu
/** The text before the last e-mail in parentheses. */
const beforeLastEmail = /^.*\((?=[^\s()]+@[^\s()]+\))/su
/** The end of a text that `plainText` has cut. */
const cutTextEnding = /… \(cut: \d+ characters\)$/
/** Words of refcheck's sentences that are followed by an unquoted part of a file. */
const unquotedFilePart =
  /\b(is the error|is of the type|is the number|number format,|round it to|calling code|damaged workbook|not sound XML|may be(?= -?\d)|is(?= (?:TRUE|FALSE) shown)) .*$/su
/** Ids and times have as many digits as a phone, so they are not masked. A date before 2020 may be of a birth. */
const idOrTime =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}|20[2-9]\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z| ?[+-]\d\d:\d\d)?)?(?!\d)/gi
/** Times and years in a file name that cannot be of a birth, because they are from 2020 on. */
const timeInPath =
  /(?<!\d)20[2-9]\d(?:[-.]?[01]\d(?:[-.]?[0-3]\d(?:[T_ -]?[0-2]\d[:.-]?[0-5]\d(?:[:.-]?[0-5]\d)?)?)?)?(?!\d)/g
/** Digits of a file name, with the characters that separate the groups of a phone or the parts of a date. */
const digitsInPath = /\+?\d(?:[ ()._-]*\d)*/g
const dateOfBirth =
  /(?<!\d)(?:(?:19\d\d|20[01]\d)[-._ ]?[01]\d[-._ ]?[0-3]\d|[0-3]?\d[-._ ][01]?\d[-._ ](?:19\d\d|20[01]\d))(?!\d)/g
/** A file that a text names without quotation marks, such as an argument of a command in a hint. */
const extensions = '(?:csv|tsv|txt|xlsx|xlsm|ods|jsonl?|ndjson|pdf)'
const fileExtension = new RegExp(String.raw`\.${extensions}(?![\p{L}\p{N}])`, 'iu')
const extensionWithoutName = new RegExp(`^${extensions}$`, 'i')
const unquotedWord = /[^\s"'“”]+/gu
/** Sentences about a report. They begin with the name of the check and may end with its status, both from the service. */
const reportSentence =
  /^.*: (no report; the check ended |the report is not ready; the check is |the check is COMPLETED, but its report |its report )(.*)$/s
const wordPattern = /[\p{L}\p{M}\p{N}'’-]+/gu
const wordInFileName = /[\p{L}\p{M}'’-]+/gu
const emailOrWord = new RegExp(`${emailPattern.source}|${wordPattern.source}`, 'gu')
/** Scripts in which one character may be a whole name, so that it is no initial. */
const nameCharacter = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u
const latinLetter = /^\p{Script=Latin}$/u

/** A private character, which occurs in no real text. */
const privateMark = '\uF8FF'
const markedIndex = /\uF8FF(.)\uF8FF/gu

const withheldText = '…'

function withheld(): string {
  return withheldText
}

/** `Priya` → `P.`, `Ann Lee` → `A. L.`, `王 芳` → `… …` */
export function maskName(text: string): string {
  const names = text.match(/[\p{L}\p{N}][\p{M}]*[^\s-]*/gu) ?? []
  return names.map(initialOf).join(' ') || withheldText
}

function initialOf(name: string): string {
  const [first = '', ...rest] = name
  const isWholeName =
    nameCharacter.test(first) || (rest.every((each) => each === '.') && !latinLetter.test(first))
  return isWholeName ? withheldText : `${first}.`
}

/** `priya@example.com` → `p…@example.com` */
export function maskEmail(text: string): string {
  const atIndex = text.lastIndexOf('@')
  // A cell may contain an @ without being an address, so anything that cannot be a domain is withheld.
  return atIndex < 1 || !domainPattern.test(text.slice(atIndex + 1))
    ? withheldText
    : `${Array.from(text)[0] ?? ''}…${text.slice(atIndex)}`
}

/** `+61412345678` → `…78` */
export function maskPhone(text: string): string {
  const digits = text.replaceAll(/\D/g, '')
  return digits.length < 7 ? withheldText : `${withheldText}${digits.slice(-2)}`
}

/** Returns the words of all names in these documents, so that they can be found in running text. */
export function nameWordsIn(documents: readonly unknown[]): Set<string> {
  const nameWords = new Set<string>()
  const walk = (value: unknown, key: string): void => {
    if (typeof value === 'string' && nameKeys.has(key)) for (const each of wordsOf(value)) nameWords.add(each)
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) walk(inner, Array.isArray(value) ? key : name)
  }
  for (const each of documents) walk(each, '')
  return nameWords
}

/** Returns the names of the checks and of their providers in packages. */
export function namesOfChecks(packages: unknown): Set<string> {
  const checkNames = new Set<string>()
  const walk = (value: unknown, isCheck: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (isCheck && checkNameKeys.has(key) && typeof inner === 'string') checkNames.add(inner)
      walk(inner, key === 'background_checks' || (isCheck && Array.isArray(value)))
    }
  }
  walk(packages, false)
  return checkNames
}

/**
 * Masks all personal data of a document. `knownNames` are words of names that may occur in its texts. `checkNames` are
 * the names of the checks and providers of packages.
 */
export function maskDocument(
  document: unknown,
  knownNames: ReadonlySet<string>,
  { checkNames = new Set(), reportsFolder }: Partial<Omit<NamesOfDocument, 'knownNames'>> = {},
): unknown {
  return maskAt(document, '', false, { knownNames, checkNames, reportsFolder })
}

const readingHint =
  'Say how the file is read with map, ignore, sheet, header_row, encoding or hidden. A person sees its columns and sheets with: refcheck batch validate FILE'

/** Failures that depend on whether the file has the columns that `map` and `ignore` name. */
const columnFailurePattern = /--map|--ignore|\bcolumns?\b|looks like a title/

/**
 * Returns the failure to read a file without names of its columns and sheets. A hint lists them as flags, and each is a
 * cell of a person if a data line was taken as the header. `hasColumnOptions`: the agent gave `map` or `ignore`. Then one
 * sentence replaces all failures about columns: different ones would let the agent test guesses of a cell.
 */
export function maskFileFailure(document: unknown, hasColumnOptions: boolean): unknown {
  if (typeof document !== 'object' || document === null || Object.keys(document).join(' ') !== 'error')
    return document
  const { error } = document as { error: Record<string, unknown> }
  if (error['code'] !== 'invalid_input' && error['code'] !== 'usage') return document
  const { field, ...rest } = error
  if (hasColumnOptions && columnFailurePattern.test(String(error['message']))) {
    const message =
      'map and ignore do not fit the file: they name a column that it does not have, or one is unknown, missing or there twice'
    return { error: { code: 'invalid_input', message, hint: readingHint } }
  }
  const isRecipientField = recipientFields.some((name) => name === field)
  return { error: { ...rest, hint: readingHint, ...(isRecipientField && { field }) } }
}

/**
 * Masks known names, e-mails, phones and quoted parts of a running text. `isHint` is set for a text that only refcheck
 * writes.
 */
export function maskText(text: string, knownNames: ReadonlySet<string>, isHint = false): string {
  const unquotedText = withoutQuoted(text.replaceAll(privateMark, ''))
    .replace(unquotedFilePart, `$1 ${withheldText}`)
    .replace(reportSentence, (_, status: string, rest: string) => {
      const isShown = status.startsWith('the check') || status.startsWith('its') || isDefinedWord(rest)
      return `${withheldText}: ${status}${isShown ? rest : withheldText}`
    })
  const textWithMaskedFiles = unquotedText.replace(unquotedWord, (each) =>
    fileExtension.test(each) ? maskPath(each, { knownNames }) : each,
  )
  return changeAround(idOrTime, textWithMaskedFiles, (rest) =>
    rest
      // A name may contain what ends a name in a sentence, as in `Lee, Jr. (…)`, so before an e-mail only words of
      // refcheck are shown.
      .replace(beforeLastEmail, (before) =>
        before.replace(emailOrWord, (each, at) =>
          isSentenceWord(at === 0 ? fold(each) : each) ? each : maskName(each),
        ),
      )
      .replace(nameBeforeEmail, (_, before: string, name: string) => `${before}${maskName(name)} (`)
      .replace(emailPattern, (each) => maskEmail(each))
      .replace(dateOfBirth, withheldText)
      .replace(phonePattern, (each) => maskPhone(each))
      .replace(wordPattern, (each) =>
        isKnownName(each, knownNames) && !isOwnWord(isHint ? each.toLowerCase() : each, knownNames)
          ? maskName(each)
          : each,
      ),
  )
}

/** Whether a word before an e-mail is shown: a word of refcheck, a number, or an e-mail, which is masked later. */
const isSentenceWord = (text: string): boolean =>
  text.includes('@') ||
  /^\d+$/.test(text) ||
  ownWords.has(text) ||
  batchFileWords.has(text) ||
  extensionWithoutName.test(text)

/** Changes the parts of a text that do not match `pattern`. The text must not contain `privateMark`. */
function changeAround(pattern: RegExp, text: string, change: (rest: string) => string): string {
  const parts: string[] = []
  const marked = text.replace(
    pattern,
    (each) => `${privateMark}${String.fromCharCode(0xe000 + parts.push(each) - 1)}${privateMark}`,
  )
  return change(marked).replaceAll(markedIndex, (_, mark: string) => parts[mark.charCodeAt(0) - 0xe000] ?? '')
}

/**
 * The `<field path>` of a 400 (`<field path>: <reason>`). It must be a path of an order, because any text of the
 * service may begin like one.
 */
const fieldPath =
  /^(?:package_id|recipient(?:\.(?:first_name|last_name|email|phone))?|additional_information(?:\[\d{1,2}\])?(?:\.(?:code|fields(?:\.[a-z_]{1,40})*))?)(?=: |$)/
/** A problem that refcheck finds by the schema of a package. Its text contains no values of the order. */
const missingField = /^has no "[a-z][a-z_]{0,60}", which the check "[a-z][a-z_]{0,60}" requires$/
/** A UUID with few letters may consist of a phone and of dates. */
const uuid = /(?=(?:[\d-]{0,34}[a-f]){2})[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi
const statuses = new Set<string>([
  ...requestStatuses,
  ...checkStatuses,
  ...refereeStatuses,
  ...packageStatuses,
])
const definedWords = new Set<string>([...statuses, ...checkTypes, ...submissionStates])
const openingMarks = '(['
const closingMarks = ')]…,.:;!?'

/**
 * Masks a reason that the service may have written. It can repeat any cell of an order in any spelling, so only ids and
 * words of refcheck's own sentences are shown.
 */
export function maskReason(text: string): string {
  const path = fieldPath.exec(text)?.[0] ?? ''
  const unquotedText = withoutQuoted(text.slice(path.length).replaceAll(privateMark, ''))
  const maskedText = changeAround(uuid, unquotedText, (rest) =>
    rest
      .split(' ')
      .map((each) => {
        const [start, end] = wordWithin(each)
        const core = each.slice(start, end)
        const isShown = core.replaceAll(markedIndex, '') === '' || ownWords.has(core) || statuses.has(core)
        return isShown ? each : `${each.slice(0, start)}${withheldText}${each.slice(end)}`
      })
      .join(' ')
      .replaceAll(/…(?: …)+/g, withheldText),
  )
  return `${maskFieldPath(path)}${maskedText}`
}

/** Masks the names of form fields in a field path, because the service may write any word there. */
function maskFieldPath(path: string): string {
  return path.replace(/(?<=\.fields\.).*/, (names) =>
    names
      .split('.')
      .map((name) => (name.split('_').every(isFormWord) ? name : withheldText))
      .join('.'),
  )
}

const isFormWord = (text: string): boolean => ownWords.has(text) || formWords.has(text)

const isDefinedWord = (text: string): boolean => definedWords.has(text) || ownWords.has(text)

/** Returns where a word begins and ends within brackets and punctuation. */
function wordWithin(text: string): [start: number, end: number] {
  let [start, end] = [0, text.length]
  while (end > 0 && closingMarks.includes(text.charAt(end - 1))) end -= 1
  while (start < end && openingMarks.includes(text.charAt(start))) start += 1
  return [start, end]
}

/**
 * Replaces the text from the first quotation mark to the last, because a quoted text may contain quotation marks.
 * Without a closing mark the rest of the text is replaced.
 */
function withoutQuoted(text: string): string {
  if (missingField.test(text)) return text
  const first = text.search(/["“]/u)
  if (first === -1) return text
  const last = Math.max(text.lastIndexOf('"'), text.lastIndexOf('”'))
  const rest = last <= first || cutTextEnding.test(text) ? '' : text.slice(last + 1)
  return `${text.slice(0, first)}"${withheldText}"${rest}`
}

/** The path of a report that an agent downloads, below `reportsFolder`: `REQUEST_ID/CHECK_ID_ID.pdf`. */
const agentReportPath = new RegExp(
  String.raw`^[\\\/](${uuid.source})[\\\/]${uuid.source}(?:_(?=[a-f]{0,7}\d)[\da-f]{8}){0,2}\.pdf$`,
  'i',
)
const shortReportId = /[\da-f]{8}(?=\.pdf$)/i

function maskPath(
  path: string,
  { knownNames, reportsFolder }: Omit<NamesOfDocument, 'checkNames'>,
  isBatchFile = false,
): string {
  if (/\.pdf$/i.test(path)) {
    const isInFolder = reportsFolder !== undefined && path.startsWith(reportsFolder)
    if (isInFolder && agentReportPath.test(path.slice(reportsFolder.length))) return path
    // A folder or file that a person named may contain the name of a referee, and no list of requests has referees.
    const [id = ''] = shortReportId.exec(path) ?? []
    // An id without digits may be a name, such as Abe or Dee.
    return `${withheldText}${/\d/.test(id) ? id : ''}.pdf`
  }
  const names = path.replaceAll(privateMark, '').split(/(?<=[\\/])/)
  // The folder of a batch's file may be named after a person who is not known here.
  return (isBatchFile ? names.slice(-1) : names)
    .map((each) => maskFileName(each, knownNames, isBatchFile))
    .join('')
}

/**
 * Masks a name of a file or folder. All digits are withheld except recent times and one number of at most two digits.
 * In the name of a batch's file only usual words are shown: the names of its people may be missing in `knownNames`.
 */
function maskFileName(name: string, knownNames: ReadonlySet<string>, isBatchFile: boolean): string {
  return changeAround(timeInPath, name, (rest) => {
    const numbers = rest.replaceAll(markedIndex, '').match(/\d+/g) ?? []
    const isShort = numbers.length <= 1 && numbers.every((each) => each.length <= 2)
    return rest
      .replace(emailPattern, maskEmail)
      .replace(digitsInPath, (each) => (isShort ? each : withheldText))
      .replace(wordInFileName, (each) =>
        isKnownName(each, knownNames) || (isBatchFile && !each.split('-').every(isBatchFileWord))
          ? maskName(each)
          : each,
      )
  })
}

const isBatchFileWord = (text: string): boolean =>
  text === '' ||
  latinLetter.test(text) ||
  batchFileWords.has(fold(text)) ||
  ownWords.has(fold(text)) ||
  extensionWithoutName.test(text)

/** A position between the parts of a word in a text or file name: `Smith's`, `Anne-Marie`, `JohnSmith`, `Smith2`. */
const wordPartBoundary =
  /(?<=['’-])|(?=['’-])|(?<=\p{Ll})(?=\p{Lu})|(?<=\d)(?=\D)|(?<=\D)(?=\d)|(?<=\p{Script=Han})(?=\p{Script=Han})/u

/** Whether a word, or up to five consecutive parts of it, such as `Mc` and `Donald`, are a known name. */
function isKnownName(text: string, knownNames: ReadonlySet<string>): boolean {
  const parts = text.split(wordPartBoundary)
  const runsFrom = (start: number) =>
    [1, 2, 3, 4, 5].map((count) => parts.slice(start, start + count).join(''))
  return [text, ...parts.flatMap((_, start) => runsFrom(start))].some((run) => knownNames.has(fold(run)))
}

/** Whether a word is in `ownWords`. For a flag, every part that is a known name has to be in `ownWords`. */
function isOwnWord(text: string, knownNames: ReadonlySet<string>): boolean {
  if (!text.startsWith('--')) return ownWords.has(text)
  return text.split('-').every((part) => !knownNames.has(part) || ownWords.has(part))
}

interface NamesOfDocument {
  knownNames: ReadonlySet<string>
  checkNames: ReadonlySet<string>
  reportsFolder?: string | undefined
}

function maskAt(value: unknown, key: string, isPersonal: boolean, names: NamesOfDocument): unknown {
  if (columnNameKeys.has(key)) return withheldText
  if (Array.isArray(value)) return value.map((each) => maskAt(each, key, isPersonal, names))
  if (typeof value === 'object' && value !== null) {
    const isPersonalValue = isPersonal || personalKeys.has(key)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (name === 'field' && isServiceError(value)) return [name, maskReason(String(inner))]
        const shownName = definedWordKeys.has(key) && !isDefinedWord(name) ? withheldText : name
        return [shownName, maskAt(inner, keyForMask(name, value, key), isPersonalValue, names)]
      }),
    )
  }
  if (typeof value === 'string') {
    const mask = Object.hasOwn(maskByKey, key) ? maskByKey[key] : undefined
    if (mask !== undefined) return mask(value)
    if (isPersonal) return withheldText
    if (generatedValueKeys.has(key)) return value
    if (definedWordKeys.has(key)) return isDefinedWord(value) ? value : withheldText
    if (idKeys.has(key)) return value.replace(uuid, '') === '' ? value : withheldText
    if (key === 'referee_id') return refereeId.test(value) ? value : withheldText
    if (checkNameKeys.has(key)) return names.checkNames.has(value) ? value : withheldText
    if (key === 'created_at') return creationTime.test(value) ? value : withheldText
    if (reasonKeys.has(key)) return maskReason(value)
    return pathKeys.has(key)
      ? maskPath(value, names, batchFileKeys.has(key))
      : maskText(value, names.knownNames, key === 'hint')
  }
  if (key === 'referee_id' && typeof value === 'number' && !refereeId.test(String(value))) return withheldText
  return isPersonal && value !== null ? withheldText : value
}

/** Returns the key by which a value is masked: it differs from `name` where the same name has another content. */
function keyForMask(name: string, parent: object, parentKey: string): string {
  if (parentKey === 'by_type') return 'statuses'
  if (name === 'message' && isServiceError(parent)) return 'reason'
  // A batch has the name of its file.
  return name === 'name' && 'batch_id' in parent ? 'batch' : name
}

/** Whether an error has an HTTP status; its message is then a text of the service. */
const isServiceError = (value: object): boolean => 'status' in value && typeof value.status === 'number'

/** The parts of a JSON Schema that `keepDeclared` uses. */
interface DeclaredShape {
  anyOf?: readonly DeclaredShape[]
  properties?: Readonly<Record<string, DeclaredShape>>
  additionalProperties?: DeclaredShape | boolean
  items?: DeclaredShape
}

/**
 * Returns a document without the keys that its schema does not declare: the service may add fields of any name and
 * content. If the schema of an object declares no keys, all keys are kept: they are values, such as package ids.
 */
export function keepDeclared(document: unknown, schema: DeclaredShape): unknown {
  if (typeof document !== 'object' || document === null) return document
  const shapes = alternatives(schema)
  if (Array.isArray(document)) {
    const items = { anyOf: shapes.flatMap(({ items: each }) => each ?? []) }
    return document.map((each) => keepDeclared(each, items))
  }
  const declaredKeys = shapes.flatMap(({ properties }) => Object.entries(properties ?? {}))
  if (declaredKeys.length === 0) {
    const values = shapes.flatMap(({ additionalProperties: each }) => (typeof each === 'object' ? each : []))
    return Object.fromEntries(
      Object.entries(document).map(([key, value]) => [key, keepDeclared(value, { anyOf: values })]),
    )
  }
  return Object.fromEntries(
    Object.entries(document).flatMap(([key, value]) => {
      const shapesOfKey = declaredKeys.filter(([name]) => name === key).map(([, shape]) => shape)
      return shapesOfKey.length === 0 ? [] : [[key, keepDeclared(value, { anyOf: shapesOfKey })]]
    }),
  )
}

function alternatives(schema: DeclaredShape): DeclaredShape[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives)
}

/**
 * Returns the words of a name. Single Latin letters are left out, because they identify no person and occur in every
 * text.
 */
function wordsOf(name: string): string[] {
  return (name.match(wordPattern) ?? [])
    .flatMap((each) => [each].concat(each.split(/['’-]/)))
    .filter((each) => each !== '' && !latinLetter.test(each))
    .map(fold)
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Maximal length of a text before it is cut. */
export const maxTextLength = 600

const blanks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
/**
 * Invisible characters, which may hide or reorder words: zero-width, bidi, tags, variation selectors, fillers, private
 * and unpaired ones.
 */
const invisibleCharacters = /[\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu

/**
 * Returns a text as one line without invisible characters. A text longer than `maxTextLength` is cut, and its length is
 * added.
 */
export function plainText(text: string): string {
  const plain = text
    .slice(0, 20 * maxTextLength)
    .replace(invisibleCharacters, '')
    .replace(blanks, ' ')
    .trim()
  const characters = Array.from(plain)
  if (characters.length <= maxTextLength && text.length <= 20 * maxTextLength) return plain
  return `${characters.slice(0, maxTextLength).join('')}… (cut: ${text.length} characters)`
}
