import { decodeUriOrUndefined, isLoopbackHost, isLoopbackUrl } from '../../contract/url.ts'
import { IoError, UsageError } from '../../errors/kinds.ts'

/** The address of a store, from REFCHECK_STORE or the setting `store`. */
type StoreAddress =
  | { kind: 'memory' }
  /** The path as the user typed it; a relative one is resolved by the caller. */
  | { kind: 'file'; path: string }
  | { kind: 'postgres'; server: PostgresServer }
  /**
   * The text is not an address of a store; `why` does not repeat what follows the scheme, which may contain a
   * password.
   */
  | { kind: 'none'; why: string }

const controlCharacter = /\p{Cc}/u
const maxPathLength = 4096

const noAddress = (why: string): StoreAddress => ({ kind: 'none', why })

/** Parses an address. The caller decides which kinds are allowed. */
export function parseStoreAddress(text: string): StoreAddress {
  if (text === ':memory:') return { kind: 'memory' }
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql') return parsePostgresAddress(text)
  if (scheme !== undefined) return noAddress(`a store cannot be a "${scheme}://" address`)
  if (looksLikeAddress(text)) return noAddress('a PostgreSQL address begins with postgres://')
  if (/^["'`“”‘’]|["'`“”‘’]$/.test(text))
    return noAddress('the name of the store has quotation marks around it')
  if (text.trim() !== text) return noAddress('the name of the store has a space at one end')
  if (text.includes('\0')) return noAddress('the name of the store contains a NUL character')
  if (text.trim() === '' || text.length > maxPathLength || controlCharacter.test(text)) {
    return noAddress('the name of the store is not a path')
  }
  return { kind: 'file', path: text }
}

/**
 * Returns whether a text looks like a database's address in another form, or with other text before it. As the path
 * of a new file it would be an empty store, so that people could be ordered twice, and its password would be part of
 * a folder's name.
 */
function looksLikeAddress(text: string): boolean {
  const isKeywords = /(?:^|\s)(?:host|hostaddr|dbname|user|password)\s*=/i.test(text)
  const isUserAtHost = /^(?![a-z]:[\\/])[^/\\@:]+:[^@]*@/i.test(text)
  return isKeywords || isUserAtHost || /:\/\/|postgres(?:ql)?(?::|\/\/)/i.test(text)
}

function parsePostgresAddress(text: string): StoreAddress {
  const result = parsePostgresServer(text)
  if ('why' in result) return noAddress(result.why)
  return { kind: 'postgres', server: result.server }
}

/** A PostgreSQL database, parsed from a `postgres://` URL. */
export interface PostgresServer {
  user: string
  password: string | undefined
  /** A host name, an IP address (IPv6 without brackets), or the folder of a socket on this machine. */
  host: string
  port: number
  database: string
  tls: 'disable' | 'verify-full'
  /** The path of a PEM file; if undefined, the authorities that Node trusts are used. */
  rootCertificate: string | undefined
  /** The URL for messages, without password and parameters. */
  displayUrl: string
}

type ParsedServer = { server: PostgresServer } | { why: string }

const expectedForm = 'the PostgreSQL address is not of the form postgres://user@host:5432/database'
const encodingHint = `${expectedForm}; in a password, write @ : / ? # and % as %40 %3A %2F %3F %23 and %25`
const knownParameters = ['host', 'password', 'sslmode', 'sslrootcert'] as const
type Parameter = (typeof knownParameters)[number]

const urlCharacter = String.raw`(?:[\p{L}\p{N}._~!$&'()*+,;=-]|%[0-9a-f]{2})`
const addressPattern = new RegExp(
  String.raw`^postgres(?:ql)?://(?:(?<user>${urlCharacter}+)(?::(?<password>${urlCharacter}*))?@)?` +
    String.raw`(?:(?<host>[a-z0-9._-]+|\[[0-9a-f:.]+\]))?(?::(?<port>\d{1,5}))?` +
    String.raw`(?:/(?<database>${urlCharacter}*))?(?:\?(?<parameters>[^?#@]*))?$`,
  'iu',
)

/**
 * Parses a URL by libpq's rules, but accepts only a strict form: a lenient parser would take the end of a password
 * that was not encoded as the host. A text that is refused is therefore never quoted.
 */
export function parsePostgresServer(url: string): ParsedServer {
  const parts = addressPattern.exec(url)?.groups
  if (parts === undefined) return { why: encodingHint }
  const user = decodePart(parts['user'] ?? '')
  const database = decodePart(parts['database'] ?? '')
  const password = parts['password'] === undefined ? undefined : decodePart(parts['password'])
  const parameters = parseParameters(parts['parameters'] ?? '')
  if (user === undefined || database === undefined || parameters === undefined) return { why: encodingHint }
  if ('why' in parameters) return parameters
  if (parts['password'] !== undefined && password === undefined) return { why: encodingHint }
  if (user === '') return { why: `${expectedForm}: the user is missing` }
  if (database === '') return { why: `${expectedForm}: the database is missing` }
  const host = parameters.host ?? (parts['host'] ?? '').replace(/^\[(.*)\]$/, '$1')
  if (host === '') return { why: `${expectedForm}: the host is missing` }
  const port = Number(parts['port'] ?? 5432)
  if (port < 1 || port > 65_535) return { why: `${expectedForm}: a port is a number from 1 to 65535` }
  const tls = tlsOf(parameters.sslmode, host)
  if (tls === undefined) return { why: tlsProblem(parameters.sslmode, host) }
  const givenPassword = parameters.password ?? password
  return {
    server: {
      user,
      password: givenPassword === '' ? undefined : givenPassword,
      host,
      port,
      database,
      tls,
      rootCertificate: parameters.sslrootcert,
      displayUrl: formatServerUrl({ user, host, port, database }),
    },
  }
}

/** Returns whether the server is on this machine, so that it needs no TLS. */
const isLocal = (host: string): boolean => host.startsWith('/') || isLoopbackHost(host)

function tlsOf(mode: string | undefined, host: string): PostgresServer['tls'] | undefined {
  if (mode === 'verify-full') return 'verify-full'
  return isLocal(host) && (mode === undefined || mode === 'disable') ? 'disable' : undefined
}

function tlsProblem(mode: string | undefined, host: string): string {
  if (isLocal(host)) return 'sslmode must be "verify-full", or "disable" for a database on this machine'
  return mode === undefined
    ? 'the PostgreSQL address needs sslmode=verify-full, since the database is on another machine'
    : 'sslmode must be "verify-full", since the database is on another machine'
}

function parseParameters(query: string): Partial<Record<Parameter, string>> | { why: string } | undefined {
  const parameters: Partial<Record<Parameter, string>> = {}
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const value = decodePart(rest.join('='))
    const knownName = knownParameters.find((each) => each === name)
    if (knownName === undefined || parameters[knownName] !== undefined) {
      return {
        why: `the PostgreSQL address takes each of ${knownParameters.join(', ')} once, and no other parameter`,
      }
    }
    if (value === undefined) return undefined
    parameters[knownName] = value
  }
  if (parameters.host !== undefined && !parameters.host.startsWith('/')) {
    return { why: 'host in the PostgreSQL address must be the folder of a socket' }
  }
  return parameters
}

/** Decodes a part of a URL. Undefined if an escape is not UTF-8, or encodes a control character. */
function decodePart(part: string): string | undefined {
  const decodedText = decodeUriOrUndefined(part)
  return decodedText === undefined || /\p{Cc}/u.test(decodedText) ? undefined : decodedText
}

function formatServerUrl({
  user,
  host,
  port,
  database,
}: Pick<PostgresServer, 'user' | 'host' | 'port' | 'database'>): string {
  const hostAndPort = host.startsWith('/') ? '' : `${host.includes(':') ? `[${host}]` : host}:${port}`
  const socket = host.startsWith('/') ? `?host=${host}` : ''
  return `postgres://${encodeURIComponent(user)}@${hostAndPort}/${encodeURIComponent(database)}${socket}`
}

/**
 * Returns the password from a passfile: that of the first line whose fields match the server. A line is
 * `host:port:database:user:password`; `*` matches any value, and `\` escapes `:` and `\`. The host of a socket is
 * `localhost`. Returns undefined if no line matches.
 */
export function passwordIn(passfile: string, server: PostgresServer): string | undefined {
  const host = server.host.startsWith('/') ? 'localhost' : server.host
  const serverFields = [host, String(server.port), server.database, server.user]
  for (const line of passfile.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field = '']) => field)
    const [password] = fields.slice(4)
    const isMatch = serverFields.every(
      (value, index) => fields[index] === '*' || unescaped(fields[index]) === value,
    )
    if (isMatch && password !== undefined && password !== '') return unescaped(password)
  }
  return undefined
}

const unescaped = (field: string | undefined): string | undefined => field?.replaceAll(/\\(.)/g, '$1')

/**
 * Throws an IoError if the file of a store has several paths: two runners that open it by different paths would use
 * different lock files. `path`: the path by which it was opened.
 */
export function requireOneName(
  path: string,
  { linkCount, isMount }: { /** The number of hard links. */ linkCount: number; isMount: boolean },
): void {
  if (linkCount > 1) {
    throw new IoError(`cannot use the store "${path}": the file has ${linkCount} names (hard links)`, {
      hint: 'Two runners could order the same people. Remove the other names, or copy the store with: refcheck store backup FILE',
    })
  }
  if (isMount) {
    throw new IoError(`cannot use the store "${path}": the file is mounted by itself`, {
      hint: 'Two runners could order the same people. Mount the folder that it is in, not the file.',
    })
  }
}

/** Returns whether a path is a mount point, according to the text of Linux's /proc/self/mountinfo (proc(5)). */
export function isListedMount(path: string, mountinfo: string): boolean {
  // Spaces, tabs, line ends and backslashes are written as octal escapes in this file.
  const decodeOctal = (text: string | undefined): string | undefined =>
    text?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  return mountinfo.split('\n').some((line) => decodeOctal(line.split(' ')[4]) === path)
}

/**
 * Throws a UsageError if orders would be recorded only in memory (src/docs/cli.md, "Environment"): a store that ends
 * with the process cannot prevent a second order.
 */
export function refuseMemoryStore(location: string, baseUrl: string): void {
  if (location !== ':memory:' || isLoopbackUrl(baseUrl)) return
  throw new UsageError('refused to order with a store in memory, which would forget the order', {
    hint: 'Set REFCHECK_STORE to a file, or unset it. ":memory:" is allowed for a service on this machine only.',
  })
}
