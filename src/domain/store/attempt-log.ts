import type { SubmissionState } from '../submission/states.ts'

/**
 * The file in which a log was made. A log that is found in another file is a copy of the log that the header describes.
 */
export interface LogOrigin {
  host: string
  /** The identifier of the operating system's installation; empty if there is none. */
  machine: string
  /** The absolute path, with links resolved. */
  path: string
  /** The inode number. The device number is not included, because it may change at a restart. */
  file: string
}

/** A log in the store's register, which lists every log that an attempt was ever recorded in. */
export interface RegisteredLog extends Omit<LogOrigin, 'file'> {
  id: string
  /** Wall time of the newest attempt in the log, in ms. */
  lastAttemptAt: number
}

/**
 * The first line of a log. The header is written again when a value changes and after many lines, and the last header
 * is valid: a process that starts reads the log from `bytes` on.
 */
export interface LogHeader {
  kind: 'header'
  id: string
  origin: LogOrigin
  /** The id of the store. A moved store keeps the id, and so does a copy until it is accepted as another store. */
  storeId: string
  /** The location of the store: a path, or the address of a database without its password. */
  store: string
  /** The key of the store's fingerprints, as hex. */
  key: string
  /** The generation of the store when the header was written. */
  generation: string
  /** A copy of the store's register. */
  register: RegisteredLog[]
  /** The number of bytes of the log that `heads` summarises. */
  bytes: number
  /** The attempt with the highest number of each account in this generation. */
  heads: Head[]
  /** The location to which the store was moved; undefined if it was not moved. */
  movedTo?: string | undefined
}

/** The attempt with the highest number of an account. */
export interface Head {
  account: string
  number: number
  attemptId: string
}

/**
 * A committed attempt, recorded before its request is sent. It contains no personal data except keyed fingerprints.
 */
export interface LogEntry extends Head {
  kind: 'entry'
  generation: string
  batchId: string
  row: number
  baseUrl: string
  userEmail: string
  packageId: number
  /** Other packages that count as the same one after `batch move`. */
  relatedIds: number[]
  /** Wall time in ms. */
  at: number
  person: string
  email: string
  phone: string
}

/** The outcome of an attempt. Appended without a flush, so it may be missing. */
export interface LogOutcome {
  kind: 'outcome'
  attemptId: string
  state: SubmissionState
  requestId: string | undefined
}

/** The head of an account, as the store had it when it was read. Appended without a flush. */
export interface LogNote extends Head {
  kind: 'note'
  generation: string
}

export type LogRecord = LogHeader | LogEntry | LogOutcome | LogNote

export interface ParsedLog {
  records: LogRecord[]
  /** The number of complete lines that were changed after they were written. */
  damagedLineCount: number
  /** The number of bytes up to the end of the last complete line: an incomplete line after it is read again later. */
  parsedBytes: number
}

/**
 * Returns the SHA-256 of a text as 64 hex characters. It is passed as an argument, because loading node:crypto takes
 * time when the program starts.
 */
type Digest = (text: string) => string

const checksumLength = 16
/** JSON text never holds a tab, so an incomplete line never ends with one. */
const lineEnd = '\t'

/**
 * Returns a record as one line, which has to be appended in one write. The line starts with a line break, which ends
 * an incomplete line of a killed process, and ends with a tab, which distinguishes an incomplete line from a damaged
 * one.
 */
export function formatRecord(record: LogRecord, digest: Digest): string {
  return `\n${withChecksum(JSON.stringify(fieldsOf(record)), digest)}`
}

/**
 * Parses the content of a log from the start of a line. An incomplete line belongs to an attempt whose request was
 * never sent.
 */
export function parseLog(content: Buffer, digest: Digest): ParsedLog {
  // The length is counted in bytes: a character that was cut off when the disk was full is decoded as another one
  // with more bytes.
  const parsed: ParsedLog = {
    records: [],
    damagedLineCount: 0,
    parsedBytes: content.lastIndexOf(lineEnd) + 1,
  }
  for (const line of content.toString().split('\n')) {
    // A power cut may leave zeros instead of a line that was not flushed.
    if (!line.endsWith(lineEnd) || line.includes('\0')) continue
    const text = contentOf(line)
    const record = withChecksum(text, digest) === line ? recordOf(text) : undefined
    if (record === undefined) parsed.damagedLineCount += 1
    else parsed.records.push(record)
  }
  return parsed
}

/** Returns whether a log is in the file that its header describes, so that this machine may append to it. */
export function isAtOrigin({ origin }: LogHeader, found: LogOrigin): boolean {
  return (
    origin.host === found.host &&
    origin.machine === found.machine &&
    origin.path === found.path &&
    origin.file === found.file
  )
}

/**
 * Returns the lines of these attempts that still have fingerprints, each with a replacement of the same length. A line
 * whose replacement was interrupted is returned again: only its fingerprints and its checksum can be wrong.
 */
export function eraseFingerprints(
  text: string,
  attemptIds: ReadonlySet<string>,
  digest: Digest,
): { before: string; after: string }[] {
  return text.split('\n').flatMap((line) => {
    const entry = line.endsWith(lineEnd) ? entryIn(contentOf(line)) : undefined
    if (entry === undefined || !attemptIds.has(entry.attemptId)) return []
    const zerosFor = (fingerprint: string): string => '0'.repeat(fingerprint.length)
    const { person, email, phone } = entry
    const erased = { ...entry, person: zerosFor(person), email: zerosFor(email), phone: zerosFor(phone) }
    const replacement = formatRecord(erased, digest).slice(1)
    return replacement === line ? [] : [{ before: line, after: replacement }]
  })
}

/**
 * Returns the entry in a line; undefined for any other record, and for a line that is damaged in more than its
 * checksum and fingerprints.
 */
function entryIn(content: string): LogEntry | undefined {
  try {
    const record = recordOf(content)
    return record?.kind === 'entry' ? record : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a fingerprint was erased. */
export const isErasedFingerprint = (fingerprint: string): boolean => /^0*$/.test(fingerprint)

function withChecksum(content: string, digest: Digest): string {
  return `${digest(content).slice(0, checksumLength)} ${content}${lineEnd}`
}

const contentOf = (line: string): string => line.slice(checksumLength + 1, -lineEnd.length)

const headFields = ['generation', 'account', 'number', 'attemptId'] as const
const entryFields = [
  'batchId',
  'row',
  'baseUrl',
  'userEmail',
  'packageId',
  'relatedIds',
  'at',
  'person',
  'email',
  'phone',
] as const

/**
 * The fields of a line of each kind, in order. Lines are arrays, because a log has a line for every attempt that a
 * machine ever made.
 */
const fieldNames = {
  outcome: ['attemptId', 'state', 'requestId'],
  note: headFields,
  entry: [...headFields, ...entryFields],
} as const

function fieldsOf(record: LogRecord): unknown[] {
  const { kind, ...fields } = record
  if (kind === 'header') return [kind, fields]
  return [kind, ...fieldNames[kind].map((name) => (fields as Record<string, unknown>)[name])]
}

/**
 * Parses a line whose checksum proves that this program wrote it. Returns undefined for an unknown kind of record,
 * which a newer version may have written.
 */
function recordOf(content: string): LogRecord | undefined {
  const [kind, ...fields] = JSON.parse(content) as [LogRecord['kind'], ...unknown[]]
  if (kind !== 'header' && !Object.hasOwn(fieldNames, kind)) return undefined
  if (kind === 'header') return { kind, ...(fields[0] as Omit<LogHeader, 'kind'>) }
  const namedFields = fieldNames[kind].map((name, index) => [name, fields[index] ?? undefined])
  return { kind, ...Object.fromEntries(namedFields) } as LogRecord
}
