import { storeMovedError } from '../../../domain/store/moving.ts'
import type { PostgresServer } from '../../../domain/store/address.ts'
import {
  RefcheckError,
  InternalError,
  IoError,
  NoAnswerError,
  StoreBusyError,
  StoreDownError,
} from '../../../errors/kinds.ts'

/** What helps: `fix`: a user has to correct something; `busy` and `down`: the same command can succeed later. */
type Kind = 'fix' | 'busy' | 'down'
type Reason = readonly [kind: Kind, why: string, hint: string]

const runAgainLater = 'Run it again once the database can be used.'
const checkServer = 'Check that PostgreSQL runs there, and the host and port in REFCHECK_STORE.'
const checkPassword = 'Check the user, and the password in REFCHECK_STORE, ~/.pgpass or PGPASSWORD.'
const checkCertificate =
  'Give the authority that signed it with sslrootcert=FILE, or correct the host in REFCHECK_STORE.'
const createDatabase = 'Create it with: createdb, or correct the name in REFCHECK_STORE.'
const grantRight =
  'Rights that ordering needs are named by refcheck doctor. Grant it, or let the owner run: refcheck store migrate'
const hiddenRows: Reason = [
  'fix',
  'a row-level security policy hides rows of its tables',
  'Switch row-level security off on the tables of the schema refcheck: with hidden rows a person could be ordered twice.',
]
const waitForOthers = 'Wait until the other command has ended, then run it again.'

const refusedUser: Reason = ['fix', 'the server refused this user', checkPassword]

/** The reasons by SQLSTATE (appendix A of PostgreSQL's manual). */
const reasonsByState: Readonly<Record<string, Reason>> = {
  '22021': ['fix', 'it does not keep text of this encoding', 'Use a database whose encoding is UTF8.'],
  '25006': ['down', 'the database is read-only', runAgainLater],
  '28P01': ['fix', 'the server refused the password', checkPassword],
  '3D000': ['fix', 'there is no such database', createDatabase],
  '40001': ['busy', 'another process changed the same rows', waitForOthers],
  '40P01': ['busy', 'another process changed the same rows', waitForOthers],
  '42501': ['fix', 'this user lacks a right', grantRight],
  '42P01': ['fix', 'it has no tables of refcheck', 'Make them with: refcheck store migrate'],
  '53100': ['down', 'no space is left on the disk of the server', runAgainLater],
  '53200': ['down', 'the server is out of memory', runAgainLater],
  '53300': ['down', 'the server takes no more connections', runAgainLater],
  '55P03': ['busy', 'another process has locked it', waitForOthers],
  '57014': ['busy', 'it took too long to answer', runAgainLater],
  '57P01': ['down', 'the server is shutting down', runAgainLater],
  '57P02': ['down', 'the server is restarting after a crash', runAgainLater],
  '57P03': ['down', 'the server is starting up', runAgainLater],
}

/** The SQLSTATE that the triggers of a moved store raise. The message is the address to which the store was moved. */
export const movedState = 'RCM01'

/** The reasons by class, the first two characters of a SQLSTATE, for states that are not listed above. */
const reasonsByClass: Readonly<Record<string, Reason>> = {
  '08': ['down', 'the connection broke', runAgainLater],
  '28': refusedUser,
  '53': ['down', 'the server is short of resources', runAgainLater],
  '57': ['down', 'the server ended the connection', runAgainLater],
  '58': ['down', 'the server reported a failure of its system', 'Check the disk and the log of the server.'],
  XX: ['fix', 'the server reported an internal error', 'Check the database and the log of the server.'],
}

/** The reasons by the code of Node's errors of sockets. */
const reasonsByCode: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: ['down', 'connection refused', checkServer],
  EPIPE: ['down', 'the connection broke', runAgainLater],
  ENOTFOUND: ['down', 'there is no host of this name', checkServer],
  EAI_AGAIN: ['down', 'the name of the host could not be looked up', checkServer],
  EHOSTUNREACH: ['down', 'the host cannot be reached', checkServer],
  ENETUNREACH: ['down', 'the host cannot be reached', checkServer],
  ETIMEDOUT: ['down', 'no answer', checkServer],
  ENOENT: ['down', 'there is no such socket', checkServer],
  EACCES: ['fix', 'the socket may not be opened', checkServer],
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_(?:TLS|SSL|OSSL)/

/** The reasons by a part of the message, for errors of the driver pg that have no code. */
const reasonsByMessage: readonly (readonly [part: string, reason: Reason])[] = [
  ['does not support SSL', ['fix', 'the server does not offer TLS', 'Turn on TLS (ssl = on) at the server.']],
  ['password must be a', ['fix', 'a password is needed', checkPassword]],
  ['timeout expired', ['down', 'no answer', checkServer]],
  ['timeout', ['down', 'no answer', runAgainLater]],
]

/** The SQLSTATE of an error of the server; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error)
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !(code in reasonsByCode) ? code : undefined
}

/** Whether the server rolled the transaction back because of a deadlock or a conflict with another transaction. */
export const isDeadlock = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

/** Whether a connection cannot be used after an error: it broke, or the server ended the session (FATAL). */
export function endsSession(error: unknown): boolean {
  const state = sqlState(error)
  if (state === undefined || /^(?:08|57P0|25P0[34])/.test(state)) return true
  return error instanceof Error && 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity))
}

/**
 * Whether the server itself reported that it did not execute the statement. After any other error of a COMMIT it is
 * unknown whether the transaction was committed.
 */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(?:01|08|57P0|58|XX)/.test(state)
}

/**
 * Returns the error of this program for an error of the database, with the address of the store but without its
 * password. Errors of this program and defects are returned unchanged.
 */
export function storeFailure({ displayUrl }: PostgresServer, error: unknown): Error {
  if (error instanceof RefcheckError || isDefect(error)) return error
  const state = sqlState(error)
  if (state === movedState && error instanceof Error) {
    return storeMovedError(displayUrl, { to: error.message, isDone: true })
  }
  if (state?.startsWith('23') === true) {
    return new InternalError('an internal rule of the store was violated', { cause: error })
  }
  const [kind, why, hint] = findReason(error)
  const Failure = { fix: IoError, busy: StoreBusyError, down: StoreDownError }[kind]
  return new Failure(`cannot use the store "${displayUrl}": ${why}`, { hint, cause: error })
}

/** Whether the program itself is at fault: neither pg nor Node reports failures of the database with these classes. */
const isDefect = (error: unknown): error is Error =>
  [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind)

/** Returns the error for a commit that the server did not answer. */
export function noAnswerError({ displayUrl }: PostgresServer, cause: unknown): NoAnswerError {
  return new NoAnswerError(`the store "${displayUrl}" did not answer: a change may or may not be recorded`, {
    hint: 'Run it again: it looks up what was recorded.',
    cause,
  })
}

function findReason(error: unknown): Reason {
  const state = sqlState(error)
  if (state !== undefined) {
    const routine = error instanceof Error && 'routine' in error ? error.routine : undefined
    if (state === '42501' && routine === 'check_enable_rls') return hiddenRows
    const reason = reasonsByState[state] ?? reasonsByClass[state.slice(0, 2)]
    return reason ?? ['fix', `PostgreSQL reported error ${state}`, 'Check the log of the server.']
  }
  const code = codeOf(error) ?? ''
  const message = error instanceof Error ? error.message : ''
  if (reasonsByCode[code] !== undefined) return reasonsByCode[code]
  if (certificateCodes.test(code)) {
    return ['fix', `the server’s certificate is not trusted (${code})`, checkCertificate]
  }
  const [, reason] = reasonsByMessage.find(([part]) => message.includes(part)) ?? []
  if (reason !== undefined) return reason
  return ['down', 'the connection broke', runAgainLater]
}

/** Returns the code of an error. If several addresses were tried, returns the code of the first address's error. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
