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
