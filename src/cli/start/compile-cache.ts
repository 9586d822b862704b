import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

import { processEnvironment } from '../../host/env.ts'
import { makeFolders } from '../../disk/make-folders.ts'
import { resolvePaths } from '../../host/paths.ts'

/** What others may do with a folder that code is loaded from: nothing. */
const others = 0o077

/**
 * Has Node keep compiled code beside the store, in a folder of this version. Code that somebody else could have
 * written is not run, so a folder that is not private goes unused; so does one that cannot be written. Silently:
 * all it costs is a slower start.
 */
export function keepCompiledCode(version: string): void {
  try {
    const { data } = resolvePaths(processEnvironment())
    makeFolders(data, 0o700)
    const folder = join(data, 'compile-cache')
    makeFolders(folder, 0o700)
    if (![data, folder].every((path) => isPrivate(path))) return
    const own = join(folder, version)
    if (makeFolders(own, 0o700) !== undefined) forgetOthers(folder, version)
    enableCompileCache(own)
  } catch {
    // A read-only or full disk, a file where the folder should be.
  }
}

function isPrivate(path: string): boolean {
  const status = lstatSync(path)
  return status.isDirectory() && (status.mode & others) === 0
}

function forgetOthers(folder: string, version: string): void {
  for (const name of readdirSync(folder)) {
    if (name !== version) rmSync(join(folder, name), { recursive: true, force: true })
  }
}
