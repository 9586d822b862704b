import { dirname, resolve } from 'node:path'
import { existsSync } from 'node:fs'
import { makeOwnFolders } from '../../disk/private-modes.ts'
import { type PostgresServer, parseStoreAddress } from '../../domain/store/address.ts'
import type { MigrationResult } from '../../domain/store/types.ts'
import { UsageError } from '../../errors/kinds.ts'
import { unusableStore } from './engine.ts'
import type { Store, StoreOptions } from './store.ts'

/** The address of a store: the path of a file, `:memory:`, or a PostgreSQL database. */
type StoreAddress = { kind: 'file'; path: string } | { kind: 'postgres'; server: PostgresServer }

/**
 * Returns the address of the store: the chosen file, `:memory:` or database, or else `ledger.sqlite` in the data
 * folder. Paths are absolute. Throws a UsageError for any other choice.
 */
export function resolveStoreAddress(
  options: Pick<StoreOptions, 'chosenAddress' | 'paths' | 'cwd'>,
): StoreAddress {
  const { chosenAddress, paths, cwd } = options
  if (chosenAddress === undefined || chosenAddress === '') {
    return { kind: 'file', path: resolve(cwd, paths.data, 'ledger.sqlite') }
  }
  const address = parseStoreAddress(chosenAddress)
  switch (address.kind) {
    case 'memory':
      return { kind: 'file', path: chosenAddress }
    case 'file':
      return { kind: 'file', path: resolve(cwd, address.path) }
    case 'postgres': {
      const { rootCertificate } = address.server
      const certificate = rootCertificate === undefined ? undefined : resolve(cwd, rootCertificate)
      return { kind: 'postgres', server: { ...address.server, rootCertificate: certificate } }
    }
    case 'none':
      throw new UsageError(address.why, {
        hint: 'Set REFCHECK_STORE to a file or a postgres:// address, or unset it to use the file in the data folder.',
      })
  }
}

/** Returns the location of the store as a text: a path, or the address of a database without its password. */
export function storeLocation(options: Pick<StoreOptions, 'chosenAddress' | 'paths' | 'cwd'>): string {
  const address = resolveStoreAddress(options)
  return address.kind === 'file' ? address.path : address.server.displayUrl
}

/**
 * Creates the store in an empty database, or brings an existing store to the newest format. With `onlyIfMissing`, a
 * store that exists in a database is not changed. A file is created or migrated by opening it.
 */
export async function migrateStore(options: StoreOptions, onlyIfMissing = false): Promise<MigrationResult> {
  const address = resolveStoreAddress(options)
  if (address.kind === 'postgres') {
    const { migratePostgresStore } = await import('./postgres/store.ts')
    return migratePostgresStore(address.server, options, onlyIfMissing)
  }
  const store = await openStore(options)
  try {
    const { location, format } = await store.maintenance.info()
    return { location, from: format, to: format }
  } finally {
    await store.close()
  }
}

/** Opens an existing store. Throws an IoError if its file is missing, or if its database has no store. */
export async function openExistingStore(options: StoreOptions): Promise<Store> {
  const address = resolveStoreAddress(options)
  if (address.kind === 'file' && address.path !== ':memory:' && !existsSync(address.path)) {
    const hint = 'See which store is used with: refcheck store info'
    throw unusableStore(address.path, 'the file is missing', hint)
  }
  return openStore(options)
}

/** Opens a store, and creates it first if it does not exist. */
export async function openOrCreateStore(options: StoreOptions): Promise<Store> {
  if (resolveStoreAddress(options).kind === 'postgres') await migrateStore(options, true)
  return openStore(options)
}

/** Opens the store, whose file is created at the first use. Throws an IoError with the reason if it cannot be used. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { paths, cwd } = options
  const address = resolveStoreAddress(options)
  if (address.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/store.ts')
    return openPostgresStore(address.server, options)
  }
  const location = address.path
  if (dirname(location) === resolve(cwd, paths.data)) makeOwnFolders(dirname(location))
  const { openSqliteStore } = await import('./sqlite/store.ts')
  return openSqliteStore(location, options)
}
