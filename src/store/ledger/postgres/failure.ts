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

type Kind = 'fix' | 'busy' | 'down'
type Reason = readonly [kind: Kind, why: string, hint: string]

const retried = 'Run it again once the database can be used.'
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

/** By SQLSTATE (appendix A of PostgreSQL's manual). */
const states: Readonly<Record<string, Reason>> = {
  '22021': ['fix', 'it does not keep text of this encoding', 'Use a database whose encoding is UTF8.'],
  '25006': ['down', 'the database is read-only', retried],
  '28P01': ['fix', 'the server refused the password', checkPassword],
  '3D000': ['fix', 'there is no such database', createDatabase],
  '40001': ['busy', 'another process changed the same rows', waitForOthers],
  '40P01': ['busy', 'another process changed the same rows', waitForOthers],
  '42501': ['fix', 'this user lacks a right', grantRight],
  '42P01': ['fix', 'it has no tables of refcheck', 'Make them with: refcheck store migrate'],
  '53100': ['down', 'no space is left on the disk of the server', retried],
  '53200': ['down', 'the server is out of memory', retried],
  '53300': ['down', 'the server takes no more connections', retried],
  '55P03': ['busy', 'another process has locked it', waitForOthers],
  '57014': ['busy', 'it took too long to answer', retried],
  '57P01': ['down', 'the server is shutting down', retried],
  '57P02': ['down', 'the server is restarting after a crash', retried],
  '57P03': ['down', 'the server is starting up', retried],
}

/** Of a trigger of our own: the store was moved, to where its message says. */
export const movedState = 'RCM01'

/** Whole classes, where the state itself is not listed. */
const classes: Readonly<Record<string, Reason>> = {
  '08': ['down', 'the connection broke', retried],
  '28': refusedUser,
  '53': ['down', 'the server is short of resources', retried],
  '57': ['down', 'the server ended the connection', retried],
  '58': ['down', 'the server reported a failure of its system', 'Check the disk and the log of the server.'],
  XX: ['fix', 'the server reported an internal error', 'Check the database and the log of the server.'],
}

/** By the code that Node gives errors of sockets and TLS. */
const network: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: ['down', 'connection refused', checkServer],
  EPIPE: ['down', 'the connection broke', retried],
  ENOTFOUND: ['down', 'there is no host of this name', checkServer],
  EAI_AGAIN: ['down', 'the name of the host could not be looked up', checkServer],
  EHOSTUNREACH: ['down', 'the host cannot be reached', checkServer],
  ENETUNREACH: ['down', 'the host cannot be reached', checkServer],
  ETIMEDOUT: ['down', 'no answer', checkServer],
  ENOENT: ['down', 'there is no such socket', checkServer],
  EACCES: ['fix', 'the socket may not be opened', checkServer],
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_(?:TLS|SSL|OSSL)/

/** Texts of pg's own, which have no code. */
const texts: readonly (readonly [part: string, reason: Reason])[] = [
  ['does not support SSL', ['fix', 'the server does not offer TLS', 'Turn on TLS (ssl = on) at the server.']],
  ['password must be a', ['fix', 'a password is needed', checkPassword]],
  ['timeout expired', ['down', 'no answer', checkServer]],
  ['timeout', ['down', 'no answer', retried]],
]

/** The SQLSTATE of an error of the server; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error)
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !(code in network) ? code : undefined
}

/** Whether the server undid the transaction because it and another one waited for each other. */
export const isDeadlock = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

/** Whether the connection is of no use after an error: it broke, or the server ended its session (FATAL). */
export function endsSession(error: unknown): boolean {
  const state = sqlState(error)
  if (state === undefined || /^(?:08|57P0|25P0[34])/.test(state)) return true
  return error instanceof Error && 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity))
}

/** Whether the server itself said that it undid what it was asked: nothing else is an answer to a COMMIT. */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(?:01|08|57P0|58|XX)/.test(state)
}

/** Whatever went wrong with the database as one of our errors that names it, without a password; our own errors pass. */
export function storeFailure({ displayUrl }: PostgresServer, error: unknown): Error {
  if (error instanceof RefcheckError || isDefect(error)) return error
  const state = sqlState(error)
  if (state === movedState && error instanceof Error) {
    return storeMovedError(displayUrl, { to: error.message, isDone: true })
  }
  if (state?.startsWith('23') === true) {
    return new InternalError('an internal rule of the store was violated', { cause: error })
  }
  const [kind, why, hint] = reasonOf(error)
  const Failure = { fix: IoError, busy: StoreBusyError, down: StoreDownError }[kind]
  return new Failure(`cannot use the store "${displayUrl}": ${why}`, { hint, cause: error })
}

/** Of the program itself: neither the driver nor Node tells a failure of the database or the network by these. */
const isDefect = (error: unknown): error is Error =>
  [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind)

/** A commit without an answer. */
export function noAnswer({ displayUrl }: PostgresServer, cause: unknown): NoAnswerError {
  return new NoAnswerError(`the store "${displayUrl}" did not answer: a change may or may not be recorded`, {
    hint: 'Run it again: it looks up what was recorded.',
    cause,
  })
}

function reasonOf(error: unknown): Reason {
  const state = sqlState(error)
  if (state !== undefined) {
    const routine = error instanceof Error && 'routine' in error ? error.routine : undefined
    if (state === '42501' && routine === 'check_enable_rls') return hiddenRows
    const known = states[state] ?? classes[state.slice(0, 2)]
    return known ?? ['fix', `PostgreSQL reported error ${state}`, 'Check the log of the server.']
  }
  const code = codeOf(error) ?? ''
  const message = error instanceof Error ? error.message : ''
  if (network[code] !== undefined) return network[code]
  if (certificateCodes.test(code)) {
    return ['fix', `the server’s certificate is not trusted (${code})`, checkCertificate]
  }
  const known = texts.find(([part]) => message.includes(part))
  if (known !== undefined) return known[1]
  return ['down', 'the connection broke', retried]
}

/** Of several addresses that were tried, the first one's. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
