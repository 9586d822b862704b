import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { keepCode } from './code-cache.ts'
import { processEnvironment } from '../../host/env.ts'
import { makeFolders } from '../../disk/make-folders.ts'
import { resolvePaths } from '../../host/paths.ts'
import { byOthers, folderWeakness, weaknessOf } from '../../disk/ownership.ts'

/**
 * Keeps compiled code beside the store, in a folder of this version, for each command by itself. Code that another
 * account could have written is never run, so nothing is kept where another account owns a folder on the way, or may
 * write to one; nor where nothing can be written. Silently: all it costs is a slower start, and doctor reports it.
 */
export function keepCompiledCode(version: string, argv: readonly string[], root: string): void {
  try {
    const { data } = resolvePaths(processEnvironment())
    const folder = join(data, 'compile-cache')
    const own = join(folder, version)
    if (folderWeakness(data, byOthers) !== undefined) return
    let isNew = false
    // Each is looked at before anything is made in it.
    for (const path of [folder, own]) {
      if (isOwnFolder(path)) continue
      isNew = makeFolders(path, 0o700) !== undefined
      if (!isOwnFolder(path)) return
    }
    if (isNew) {
      // Another account may have made the folder of data meanwhile.
      if (folderWeakness(data, byOthers) !== undefined) return
      forgetOthers(folder, version)
    }
    const dist = join(root, 'dist')
    keepCode(join(own, commandIn(dist, argv)), root, readFileSync(join(dist, 'build-id'), 'utf8'))
  } catch {
    // A read-only or full disk, a file where the folder should be.
  }
}

function isOwnFolder(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  return status !== undefined && status.isDirectory() && weaknessOf(status) === undefined
}

function forgetOthers(folder: string, version: string): void {
  for (const name of readdirSync(folder)) {
    if (name !== version) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** The command of a line by its words, such as `packages.list`; one name for all lines that do not begin with one. */
function commandIn(dist: string, argv: readonly string[]): string {
  for (let length = 3; length > 0; length -= 1) {
    const words = argv.slice(0, length)
    if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) continue
    if (existsSync(join(dist, 'commands', `${words.join('/')}.cjs`))) return words.join('.')
  }
  return 'other'
}
