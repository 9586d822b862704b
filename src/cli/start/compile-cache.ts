import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { keepCode } from './code-cache.ts'
import { processEnvironment } from '../../host/env.ts'
import { makeFolders } from '../../disk/make-folders.ts'
import { resolvePaths } from '../../host/paths.ts'
import { ownUserId } from '../../host/process-id.ts'
import { hasFileModes } from '../../host/runtime.ts'

/** What others may do with a folder that code is loaded from: nothing. */
const others = 0o077

/**
 * Keeps compiled code beside the store, in a folder of this version, for each command by itself. Code that somebody else could have
 * written is not run, so a folder that is not private, or belongs to another account, goes unused; so does one that cannot be written. Silently:
 * all it costs is a slower start.
 */
export function keepCompiledCode(version: string, argv: readonly string[], root: string): void {
  try {
    const { data } = resolvePaths(processEnvironment())
    const folder = join(data, 'compile-cache')
    const own = join(folder, version)
    let isNew = false
    // Each is looked at before anything is made in it.
    for (const path of [data, folder, own]) {
      isNew = makeFolders(path, 0o700) !== undefined
      if (!isPrivate(path)) return
    }
    if (isNew) forgetOthers(folder, version)
    const dist = join(root, 'dist')
    keepCode(join(own, commandIn(dist, argv)), root, readFileSync(join(dist, 'build-id'), 'utf8'))
  } catch {
    // A read-only or full disk, a file where the folder should be.
  }
}

function isPrivate(path: string): boolean {
  const status = lstatSync(path)
  const isOwn = ownUserId() === undefined || status.uid === ownUserId()
  return status.isDirectory() && isOwn && (!hasFileModes() || (status.mode & others) === 0)
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
