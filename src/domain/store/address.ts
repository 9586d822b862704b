import { type PostgresServer, postgresServer } from './postgres-address.ts'

/** Where orders are recorded, as it is written in REFCHECK_STORE or the setting `store`. */
export type StoreAddress =
  | { kind: 'memory' }
  /** As typed; relative to wherever it was typed. */
  | { kind: 'file'; path: string }
  | { kind: 'postgres'; server: PostgresServer }
  /** No address of a store. What follows the scheme may hold a password, so it is not repeated. */
  | { kind: 'none'; why: string }

const controlCharacter = /\p{Cc}/u
const longestPath = 4096

/** Reads an address; what may be done with one of each kind is for its reader. */
export function storeAddress(text: string): StoreAddress {
  if (text === ':memory:') return { kind: 'memory' }
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql') return postgres(text)
  if (scheme !== undefined) return { kind: 'none', why: `a store cannot be a "${scheme}://" address` }
  if (isNearAddress(text)) return { kind: 'none', why: 'a PostgreSQL address begins with postgres://' }
  if (/^["'`“”‘’]|["'`“”‘’]$/.test(text))
    return { kind: 'none', why: 'the name of the store has quotation marks around it' }
  if (text.trim() !== text) return { kind: 'none', why: 'the name of the store has a space at one end' }
  if (text.includes('\0')) return { kind: 'none', why: 'the name of the store contains a NUL character' }
  if (text.trim() === '' || text.length > longestPath || controlCharacter.test(text)) {
    return { kind: 'none', why: 'the name of the store is not a path' }
  }
  return { kind: 'file', path: text }
}

/**
 * Whether a text is a database's address in another form, or with something before it. As the name of a new file it would
 * be a store that knows nobody, so that people could be ordered twice, and its password would be the name of a folder.
 */
function isNearAddress(text: string): boolean {
  const isKeywords = /(?:^|\s)(?:host|hostaddr|dbname|user|password)\s*=/i.test(text)
  const isUserAtHost = /^(?![a-z]:[\\/])[^/\\@:]+:[^@]*@/i.test(text)
  return isKeywords || isUserAtHost || /:\/\/|postgres(?:ql)?(?::|\/\/)/i.test(text)
}

function postgres(text: string): StoreAddress {
  const read = postgresServer(text)
  if ('why' in read) return { kind: 'none', why: read.why }
  return { kind: 'postgres', server: read.server }
}
