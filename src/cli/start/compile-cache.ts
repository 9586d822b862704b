import {
  closeSync,
  existsSync,
  constants as files,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import Module from 'node:module'
import { dirname, join, sep } from 'node:path'
import { constants, Script } from 'node:vm'

import { makeFolders } from '../../disk/folders.ts'
import { writableByOthers, findFolderWeakness, openNoFollow, findWeakness } from '../../disk/ownership.ts'
import { processEnvironment, runAtExit, processId } from '../../host/process.ts'
import { resolvePaths } from '../../host/paths.ts'

/**
 * Sets up a cache of compiled code next to the store, with a folder for this version and a file for each
 * command. Code that another account could have written is never run, so there is no cache if another account
 * owns a folder of the path or may write to one. Errors are not reported, because they only make the start
 * slower; `doctor` reports their causes.
 */
export function useCompileCache(version: string, argv: readonly string[], root: string): void {
  try {
    const { data } = resolvePaths(processEnvironment())
    const folder = join(data, 'compile-cache')
    const versionFolder = join(folder, version)
    if (findFolderWeakness(data, writableByOthers) !== undefined) return
    let isNew = false
    // Each folder is checked before anything is created in it.
    for (const path of [folder, versionFolder]) {
      if (isOwnFolder(path)) continue
      isNew = makeFolders(path, 0o700) !== undefined
      if (!isOwnFolder(path)) return
    }
    if (isNew) {
      // Another account may have created the data folder in the meantime.
      if (findFolderWeakness(data, writableByOthers) !== undefined) return
      removeOtherVersions(folder, version)
    }
    const dist = join(root, 'dist')
    cacheCompiledCode(
      join(versionFolder, commandNameOf(dist, argv)),
      root,
      readFileSync(join(dist, 'build-id'), 'utf8'),
    )
  } catch {
    // The disk is read-only or full, or a file has the path of the folder.
  }
}

function isOwnFolder(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  return status !== undefined && status.isDirectory() && findWeakness(status) === undefined
}

function removeOtherVersions(folder: string, version: string): void {
  for (const name of readdirSync(folder)) {
    if (name !== version) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** Returns the command that the arguments name, such as `packages.list`; `other` if they name none. */
function commandNameOf(dist: string, argv: readonly string[]): string {
  for (let length = 3; length > 0; length -= 1) {
    const words = argv.slice(0, length)
    if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) continue
    if (existsSync(join(dist, 'commands', `${words.join('/')}.cjs`))) return words.join('.')
  }
  return 'other'
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = files

interface LoadingModule {
  exports: unknown
  require(id: string): unknown
}

/** Node calls this method to compile and run a file. The cache replaces the method. */
const compileMethod = '_compile'

type Compile = (this: LoadingModule, content: string, path: string, ...rest: unknown[]) => unknown

/** JSON at the start of a cache file. */
interface CacheHeader {
  /** Hash of the build. Compiled code of another build is never run. */
  build: string
  /**
   * Whether a run that ended with exit code 0 wrote the file, which then contains all functions that the command needs.
   */
  whole: boolean
  scripts: [path: string, bytes: number][]
}

interface CachedCode {
  whole: boolean
  code: Map<string, Buffer>
}

/**
 * Loads the program's own files with the code that earlier runs of the same command compiled, and writes the compiled
 * code to `file` at exit. Node's own cache contains only the code that is compiled when a file is loaded, not the
 * functions that run later. Call this before any of these files is loaded.
 */
export function cacheCompiledCode(file: string, root: string, build: string): void {
  const cached = readCache(file, build)
  const scripts = new Map<string, { script: Script; isCached: boolean }>()
  const modules = Module.prototype as unknown as Record<typeof compileMethod, Compile>
  const originalCompile = modules[compileMethod]
  const distPrefix = join(root, 'dist') + sep
  modules[compileMethod] = function compile(content, path, ...rest) {
    if (!path.startsWith(distPrefix)) return originalCompile.call(this, content, path, ...rest)
    const name = path.slice(distPrefix.length)
    const cachedData = cached.code.get(name)
    const script = new Script(Module.wrap(content), {
      filename: path,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      ...(cachedData && { cachedData }),
    })
    scripts.set(name, { script, isCached: cachedData !== undefined && script.cachedDataRejected !== true })
    const load = script.runInThisContext() as (this: unknown, ...values: unknown[]) => unknown
    const require = (id: string): unknown => this.require(id)
    return load.call(this.exports, this.exports, require, this, path, dirname(path))
  }
  runAtExit((code) => {
    const hasSucceeded = code === 0
    if ([...scripts.values()].every(({ isCached }) => isCached) && (cached.whole || !hasSucceeded)) return
    for (const [name, { script }] of scripts) cached.code.set(name, script.createCachedData())
    writeCache(file, build, { whole: hasSucceeded || cached.whole, code: cached.code })
  })
}

const wordBytes = 8
/** Rounds up to a multiple of the word size, because V8 copies code that does not begin at such a multiple. */
const padToWord = (bytes: number): number => Math.ceil(bytes / wordBytes) * wordBytes

function readCache(file: string, build: string): CachedCode {
  try {
    const fileBytes = readOwnCode(file)
    let offset = padToWord(wordBytes + fileBytes.readUInt32LE(0))
    const header = JSON.parse(fileBytes.toString('utf8', wordBytes, offset)) as CacheHeader
    const code = new Map<string, Buffer>()
    for (const [path, bytes] of header.scripts) {
      code.set(path, fileBytes.subarray(offset, offset + bytes))
      offset += padToWord(bytes)
    }
    if (header.build === build && offset === fileBytes.length) return { whole: header.whole, code }
  } catch {
    // The file does not exist yet, is incomplete, or could have been written by another account.
  }
  return { whole: false, code: new Map() }
}

function readOwnCode(file: string): Buffer {
  const { descriptor, status } = openNoFollow(file)
  try {
    if (!status.isFile() || findWeakness(status) !== undefined) return Buffer.alloc(0)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeCache(file: string, build: string, { whole, code }: CachedCode): void {
  const scripts = [...code].map(([path, { length }]): [string, number] => [path, length])
  const header = Buffer.from(JSON.stringify({ build, whole, scripts } satisfies CacheHeader))
  const headerBytes = Buffer.alloc(padToWord(wordBytes + header.length), ' ')
  headerBytes.writeUInt32LE(header.length)
  header.copy(headerBytes, wordBytes)
  const parts = [...code.values()].flatMap((each) => [
    each,
    Buffer.alloc(padToWord(each.length) - each.length),
  ])
  try {
    const temporaryPath = `${file}.${processId()}`
    // A killed process with the same id may have left the file.
    rmSync(temporaryPath, { force: true })
    const descriptor = openSync(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      writeFileSync(descriptor, Buffer.concat([headerBytes, ...parts]), { flush: true })
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporaryPath, file)
  } catch {
    // The disk is full. Without the file, only the next start is slower.
  }
}
