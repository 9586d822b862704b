import { lstatSync, readFileSync, statSync } from 'node:fs'
import { chmod, open, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { isAmongMounts, requireOneName } from '../../../domain/store/hard-links.ts'
import { IoError } from '../../../errors/kinds.ts'
import { flushFolder, makeFolders } from '../../../disk/folders.ts'
import { diskFailure, errorNumber } from '../../../disk/failure.ts'
import { ownUserId } from '../../../host/process.ts'

type Notify = ((message: string) => void) | undefined

/** What others of this machine may do with a file; a private one grants none of it. */
const others = 0o077

/**
 * Makes the ledger's folder (0700) and file (0600) where they are missing. What was there before is left
 * as it is: it need not be ours. Returns the path with links resolved, so that two names of one store have the same locks.
 */
export async function prepareFile(path: string): Promise<string> {
  try {
    await makeFolder(dirname(path))
    await makeFile(path)
    const real = await realpath(path)
    const status = await stat(real)
    if (!status.isFile())
      throw new IoError(`cannot use the store "${path}": it is not a file`, {
        hint: 'Give the name of a file.',
      })
    requireOneName(path, { names: status.nlink, isMount: isMountPoint(real) })
    requireOwnCompanions(real, status.uid)
    return real
  } catch (error) {
    if (error instanceof IoError) throw error
    throw diskFailure('use the store', path, error)
  }
}

/**
 * SQLite writes people's data into the files that it keeps next to a store, and trusts what it finds in them. In a folder
 * that others may write to, another account may have put them there. `owner`: of the store.
 */
function requireOwnCompanions(path: string, owner: number): void {
  const own = ownUserId()
  for (const suffix of ['-wal', '-shm', '-journal']) {
    const status = lstatSync(path + suffix, { throwIfNoEntry: false })
    if (status === undefined) continue
    const isForeign = own !== undefined && status.uid !== own && status.uid !== owner
    if (status.isFile() && status.nlink === 1 && !isForeign) continue
    throw new IoError(`cannot use the store "${path}": "${path}${suffix}" does not belong to it`, {
      hint: 'Find out who put it there, and move it away. Keep the store in a folder of your own: set REFCHECK_STORE.',
    })
  }
}

/** A bind-mounted single file has its locks in another folder than the file that was mounted. */
function isMountPoint(path: string): boolean {
  try {
    return isAmongMounts(path, readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    // Only Linux has it, and not every container lets it be read.
    return false
  }
}

/** Takes away what others may do with a file that is known to be a ledger, saying so. */
export async function makePrivate(path: string, onMessage: Notify): Promise<void> {
  try {
    await mend(path, onMessage)
    // SQLite gives its own files next to it the mode it had; one message about all of them is enough.
    for (const suffix of ['-wal', '-shm']) await mend(path + suffix, undefined)
  } catch (error) {
    throw diskFailure('use the store', path, error)
  }
}

async function makeFolder(folder: string): Promise<void> {
  const topmost = makeFolders(folder, 0o700)
  if (topmost === undefined) return
  for (let made = folder; made.length >= topmost.length; made = dirname(made))
    await flushFolder(dirname(made))
}

/** Never opens a file that is there: closing it again would drop SQLite's locks of this process. */
async function makeFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') return
    throw error
  }
  await flushFolder(dirname(path))
}

async function mend(path: string, onMessage: Notify): Promise<void> {
  const before = modeOf(path)
  if ((before & others) === 0) return
  await chmod(path, 0o600)
  // No word where modes mean nothing (Windows, FAT).
  if ((modeOf(path) & others) !== 0) return
  const was = (before & 0o777).toString(8).padStart(4, '0')
  onMessage?.(`The store’s file "${path}" was readable by other users (${was}); it is now private (0600).`)
}

/** 0 for a file that is not there, or no longer. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0
}
