import { serviceOf } from '../domain/submission/identity.ts'
import { formatCount } from '../domain/wording/text.ts'
import { RefcheckError } from '../errors/kinds.ts'
import { requireNoPassword } from '../domain/store/moving.ts'
import type { MigrationResult } from '../domain/store/types.ts'
import type { Store } from '../store/ledger/store.ts'
import type { App } from './app.ts'
import type { PurgedAll, PurgeOptions } from '../usecases/store/purge.ts'
import { deletionText, foundFilesText, purgeQuestion } from '../output/views/store.ts'

/** Migrates the store to the newest format. Creates the file if it does not exist. */
export async function migrate(app: App): Promise<MigrationResult> {
  const { migrateStore } = await import('../store/ledger/open.ts')
  return migrateStore(await app.storeOptions())
}

/**
 * Returns the two stores of a move and the services for it. The old store is open; `openNewStore` opens or
 * creates the new one.
 */
export async function openStoresToMove(app: App, from: string, to: string) {
  const { openExistingStore, openOrCreateStore, storeLocation, resolveStoreAddress } =
    await import('../store/ledger/open.ts')
  const optionsOf = async (argumentName: string, address: string) => {
    requireNoPassword(argumentName, address)
    return { ...(await app.storeOptions(address)), reconnectMs: 0 }
  }
  const [source, target] = [await optionsOf('FROM', from), await optionsOf('TO', to)]
  const closeAtEnd = <Opened extends Store>(store: Opened): Opened => {
    app.onClose(() => store.close())
    return store
  }
  return {
    newLocation: storeLocation(target),
    oldStore: closeAtEnd(await openExistingStore(source)),
    address: resolveStoreAddress(target).kind === 'file' ? undefined : to,
    openNewStore: async () => closeAtEnd(await openOrCreateStore(target)),
    ...(await app.services('clock', 'random')),
  }
}

/**
 * Returns the functions that ask the questions of `store purge`. With `--delete-files`, one question is about the store
 * and the files, or about the files alone if the store has nothing of the person; otherwise a second question is about
 * the files. Without a terminal, only the flag decides about them.
 */
export function purgeQuestions(
  app: App,
  { yes, 'delete-files': deletesFiles }: { yes: boolean; 'delete-files': boolean },
  confirm: (question: string) => Promise<void>,
): Pick<PurgeOptions, 'confirm' | 'confirmFileDeletion'> {
  let isConfirmed = false
  return {
    confirm: async (found, people) => {
      const files = deletesFiles ? found.files.filter(({ isNeverDeleted }) => !isNeverDeleted) : []
      if (files.length > 0 && !yes && app.prompter() !== undefined) app.note(foundFilesText(files))
      await confirm(purgeQuestion(found, people, files))
      isConfirmed = true
    },
    confirmFileDeletion: async (files) => {
      const prompter = app.prompter()
      if (yes || (deletesFiles && (isConfirmed || prompter === undefined))) return deletesFiles
      app.note(foundFilesText(files))
      const filesText = deletionText(files)
      if (!deletesFiles)
        return (
          (await prompter?.confirm({ message: `Delete ${filesText} as well?`, isDestructive: true })) === true
        )
      await confirm(`Delete ${filesText} permanently?`)
      return true
    },
  }
}

/**
 * Removes data that is older than the setting `retention`, as `store purge` does; with `dryRun` only counts it. Returns
 * undefined without the setting.
 */
export async function purgeAllExpired(app: App, dryRun: boolean): Promise<PurgedAll | undefined> {
  const retention = await app.setting('retention')
  if (retention === undefined) return undefined
  const { purgeExpired, purgeServices } = await import('../usecases/store/purge.ts')
  return purgeExpired(await app.services(...purgeServices, 'clock'), retention, dryRun)
}

/**
 * Returns what stays open at a service whose profile was removed: rows that wait to be sent, and rows that need a person.
 * Undefined if there are none, or if the store cannot be read.
 */
export async function openRowsNote(app: App, baseUrl: string | undefined): Promise<string | undefined> {
  if (baseUrl === undefined) return undefined
  try {
    const store = await app.openStoreForCompletion()
    const batches = (await store?.batches.list({ includesSingleOrders: true })) ?? []
    const counts = batches.filter((batch) => serviceOf(batch.baseUrl) === serviceOf(baseUrl))
    const sum = (state: 'pending' | 'held' | 'unknown'): number =>
      counts.reduce((total, batch) => total + batch.counts[state], 0)
    const waiting = sum('pending')
    const needing = sum('held') + sum('unknown')
    if (waiting + needing === 0) return undefined
    const texts = [
      ...(waiting === 0 ? [] : [`${formatCount(waiting, 'row waits', 'rows wait')} to be sent`]),
      ...(needing === 0 ? [] : [`${formatCount(needing, 'row needs', 'rows need')} a person`]),
    ]
    return `Still open at ${new URL(baseUrl).host}: ${texts.join(', ')}. After the next login, continue with: refcheck status`
  } catch (error) {
    // The profile is removed, whatever the store answers.
    if (!(error instanceof RefcheckError)) throw error
    return undefined
  }
}
