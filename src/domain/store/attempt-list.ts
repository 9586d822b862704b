/**
 * An attempt as it is listed outside the store, before its POST. It names nobody: the fingerprints are keyed as in
 * the store. An empty one is not known, or was removed.
 */
export interface ListedAttempt {
  attemptId: string
  batchId: string
  row: number
  packageId: number
  person: string
  email: string
  phone: string
  /** Wall time. */
  at: number
  /** The service, and the user the call is made as. */
  baseUrl: string
  userEmail: string
}

/** What a list, or a part of it, was found to hold. */
export interface ReadList {
  attempts: ListedAttempt[]
  /** Whole lines that are not what was written. */
  damaged: number
}

/** SHA-256 of a text as 64 hex characters; an argument, since to load it costs start-up. */
export type Digest = (text: string) => string

const checksumLength = 16
/** No JSON text holds a tab, so half a line never ends with one. */
const end = '\t'

/**
 * One line, to be appended in one write. It starts with its line end, so that a line that a killed process left
 * half-written ends there too; a mark at its own end tells a damaged line from such a one.
 */
export function listLine(attempt: ListedAttempt, digest: Digest): string {
  const { attemptId, batchId, row, packageId, person, email, phone, at, baseUrl, userEmail } = attempt
  const text = JSON.stringify([
    attemptId,
    batchId,
    row,
    packageId,
    person,
    email,
    phone,
    at,
    baseUrl,
    userEmail,
  ])
  return `\n${digest(text).slice(0, checksumLength)} ${text}${end}`
}

/** A half-written line is an attempt whose POST has not begun, and is passed over. */
export function readList(text: string, digest: Digest): ReadList {
  const read: ReadList = { attempts: [], damaged: 0 }
  for (const line of text.split('\n')) {
    // What a power cut left of a write are zeros.
    if (!line.endsWith(end) || line.includes('\0')) continue
    const checksum = line.slice(0, checksumLength)
    const content = line.slice(checksumLength + 1, -end.length)
    if (digest(content).slice(0, checksumLength) === checksum) read.attempts.push(attemptIn(content))
    else read.damaged += 1
  }
  return read
}

/** The same attempt without what could tell who it was for; its line is as long as before. */
export function withoutFingerprints(attempt: ListedAttempt): ListedAttempt {
  const blank = (fingerprint: string): string => '0'.repeat(fingerprint.length)
  const { person, email, phone } = attempt
  return { ...attempt, person: blank(person), email: blank(email), phone: blank(phone) }
}

type Fields = [string, string, number, number, string, string, string, number, string, string]

/** Its checksum says that we wrote it. */
function attemptIn(text: string): ListedAttempt {
  const fields = JSON.parse(text) as Fields
  const [attemptId, batchId, row, packageId, person, email, phone, at, baseUrl, userEmail] = fields
  return { attemptId, batchId, row, packageId, person, email, phone, at, baseUrl, userEmail }
}
