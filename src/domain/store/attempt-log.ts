import type { SubmissionState } from '../submission/states.ts'

/** Where a log was made. A log that is found with any other value is a copy of the one that the header describes. */
export interface LogOrigin {
  host: string
  /** The identifier that the operating system keeps of itself; empty where there is none. */
  machine: string
  /** Absolute, with links resolved. */
  path: string
  /** The inode. The device number is left out, because it may be another one after a restart. */
  file: string
}

/** A log as the store registers it: every log that an attempt was ever recorded in. */
export interface RegisteredLog extends Omit<LogOrigin, 'file'> {
  id: string
  /** Wall time of its newest attempt, in ms. */
  lastAttemptAt: number
}

/**
 * The first line of a log. It is written again when a value changes and after many lines, and the last one counts: a process
 * that starts reads from `bytes` on.
 */
export interface LogHeader {
  kind: 'header'
  id: string
  origin: LogOrigin
  /** The store, which keeps this id wherever it is moved, and a copy of it until that is accepted as another store. */
  storeId: string
  /** Its place: a path, or the address of a database without its password. */
  store: string
  /** The key of the store's fingerprints, as hex. */
  key: string
  /** Of the store, when the header was written. */
  generation: string
  /** A copy of the store's own. */
  register: RegisteredLog[]
  /** The log up to this byte is summarised in `heads`. */
  bytes: number
  /** The highest of each account in this generation. */
  heads: Head[]
  /** Where the store was moved; undefined while it is where it was. */
  movedTo?: string | undefined
}

/** An attempt under its number. */
export interface Head {
  account: string
  number: number
  attemptId: string
}

/** An attempt that is committed, recorded before its request is sent. It holds no person's data but keyed fingerprints. */
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

/** What became of an attempt. Appended without a flush, so it may be missing. */
export interface LogOutcome {
  kind: 'outcome'
  attemptId: string
  state: SubmissionState
  requestId: string | undefined
}

/** A head that a read of the store saw. Appended without a flush. */
export interface LogNote extends Head {
  kind: 'note'
  generation: string
}

export type LogRecord = LogHeader | LogEntry | LogOutcome | LogNote

export interface ParsedLog {
  records: LogRecord[]
  /** Complete lines that are not what was written. */
  damaged: number
  /** Bytes up to the end of the last complete line: an incomplete one behind it is read again later. */
  bytes: number
}

/** SHA-256 of a text as 64 hex characters; an argument, because loading it takes time at the start of the program. */
type Digest = (text: string) => string

const checksumLength = 16
/** JSON text never holds a tab, so an incomplete line never ends with one. */
const end = '\t'

/**
 * One line, to be appended in one write. It starts with its line break, so that an incomplete line of a killed process ends
 * there, and has a mark at its end, which distinguishes an incomplete line from a damaged one.
 */
export function formatRecord(record: LogRecord, digest: Digest): string {
  return `\n${withChecksum(JSON.stringify(fieldsOf(record)), digest)}`
}

/** Reads lines from the start of one. An incomplete line belongs to an attempt whose request was never sent. */
export function parseLog(content: Buffer, digest: Digest): ParsedLog {
  // In bytes: a letter that a full disk has cut is decoded as another one, of more bytes.
  const parsed: ParsedLog = { records: [], damaged: 0, bytes: content.lastIndexOf(end) + 1 }
  for (const line of content.toString().split('\n')) {
    // A power cut may leave zeros instead of a line that was not flushed.
    if (!line.endsWith(end) || line.includes('\0')) continue
    const text = contentOf(line)
    const record = withChecksum(text, digest) === line ? recordOf(text) : undefined
    if (record === undefined) parsed.damaged += 1
    else parsed.records.push(record)
  }
  return parsed
}

/** Whether a log is where its header says, so that this machine may append to it. */
export function isOriginal({ origin }: LogHeader, found: LogOrigin): boolean {
  return (
    origin.host === found.host &&
    origin.machine === found.machine &&
    origin.path === found.path &&
    origin.file === found.file
  )
}

/**
 * Lines whose fingerprints are to be removed, each with a replacement of the same length. A line whose replacement was
 * interrupted is found too: only its fingerprints and its checksum can be wrong.
 */
export function eraseFingerprints(
  text: string,
  attemptIds: ReadonlySet<string>,
  digest: Digest,
): { old: string; new: string }[] {
  return text.split('\n').flatMap((line) => {
    const entry = line.endsWith(end) ? entryIn(contentOf(line)) : undefined
    if (entry === undefined || !attemptIds.has(entry.attemptId)) return []
    const blank = (fingerprint: string): string => '0'.repeat(fingerprint.length)
    const { person, email, phone } = entry
    const erased = { ...entry, person: blank(person), email: blank(email), phone: blank(phone) }
    const replacement = formatRecord(erased, digest).slice(1)
    return replacement === line ? [] : [{ old: line, new: replacement }]
  })
}

/** Undefined for any other record, and for a line that is damaged beyond its checksum and its fingerprints. */
function entryIn(content: string): LogEntry | undefined {
  try {
    const record = recordOf(content)
    return record?.kind === 'entry' ? record : undefined
  } catch {
    return undefined
  }
}

/** Whether a fingerprint was erased. */
export const isErased = (fingerprint: string): boolean => /^0*$/.test(fingerprint)

function withChecksum(content: string, digest: Digest): string {
  return `${digest(content).slice(0, checksumLength)} ${content}${end}`
}

const contentOf = (line: string): string => line.slice(checksumLength + 1, -end.length)

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

/** What a line of each kind has, in this order. Arrays, because a log has a line for every attempt that a machine ever made. */
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

/** The checksum says that this program wrote it; undefined for a kind of record that it does not have. */
function recordOf(content: string): LogRecord | undefined {
  const [kind, ...fields] = JSON.parse(content) as [LogRecord['kind'], ...unknown[]]
  if (kind !== 'header' && !Object.hasOwn(fieldNames, kind)) return undefined
  if (kind === 'header') return { kind, ...(fields[0] as Omit<LogHeader, 'kind'>) }
  const named = fieldNames[kind].map((name, at) => [name, fields[at] ?? undefined])
  return { kind, ...Object.fromEntries(named) } as LogRecord
}
