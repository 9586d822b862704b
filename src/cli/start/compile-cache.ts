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
 * Stores compiled code next to the store, in a folder of this version, for each command by itself. Code that another
 * account could have written is never run, so nothing is stored where another account owns a folder on the way, or may
 * write to one; nor where nothing can be written. Silently: all it costs is a slower start, and doctor reports it.
 */
export function keepCompiledCode(version: string, argv: readonly string[], root: string): void {
  try {
    const { data } = resolvePaths(processEnvironment())
    const folder = join(data, 'compile-cache')
    const own = join(folder, version)
    if (findFolderWeakness(data, writableByOthers) !== undefined) return
    let isNew = false
    // Each is checked before anything is made in it.
    for (const path of [folder, own]) {
      if (isOwnFolder(path)) continue
      isNew = makeFolders(path, 0o700) !== undefined
      if (!isOwnFolder(path)) return
    }
    if (isNew) {
      // Another account may have made the folder of data meanwhile.
      if (findFolderWeakness(data, writableByOthers) !== undefined) return
      removeOtherVersions(folder, version)
    }
    const dist = join(root, 'dist')
    keepCode(join(own, commandIn(dist, argv)), root, readFileSync(join(dist, 'build-id'), 'utf8'))
  } catch {
    // A read-only or full disk, a file where the folder should be.
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

/** The command of a line by its words, such as `packages.list`; one name for all lines that do not begin with one. */
function commandIn(dist: string, argv: readonly string[]): string {
  for (let length = 3; length > 0; length -= 1) {
    const words = argv.slice(0, length)
    if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) continue
    if (existsSync(join(dist, 'commands', `${words.join('/')}.cjs`))) return words.join('.')
  }
  return 'other'
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = files

interface Loading {
  exports: unknown
  require(id: string): unknown
}

/** What Node calls to compile and run a file it has read; who keeps code hooks in here. */
const compiling = '_compile'

type Compile = (this: Loading, content: string, path: string, ...rest: unknown[]) => unknown

/** What a file of compiled code begins with. */
interface Contents {
  /** Of the program: code of another build is never run. */
  build: string
  /** Whether a run that left it ended well, and so went all the way. */
  whole: boolean
  scripts: [path: string, bytes: number][]
}

interface CachedCode {
  whole: boolean
  code: Map<string, Buffer>
}

/**
 * Loads the program's own files with the code that earlier runs of the same command had V8 compile, and keeps it in
 * `file` as the process ends. Node's own compile cache holds what is compiled while a file is loaded; the functions
 * that run later would be compiled anew in each run. Call it before any of those files is loaded.
 */
export function keepCode(file: string, root: string, build: string): void {
  const cached = readCached(file, build)
  const scripts = new Map<string, { script: Script; known: boolean }>()
  const modules = Module.prototype as unknown as Record<typeof compiling, Compile>
  const compileOther = modules[compiling]
  const own = join(root, 'dist') + sep
  modules[compiling] = function compile(content, path, ...rest) {
    if (!path.startsWith(own)) return compileOther.call(this, content, path, ...rest)
    const name = path.slice(own.length)
    const cachedData = cached.code.get(name)
    const script = new Script(Module.wrap(content), {
      filename: path,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      ...(cachedData && { cachedData }),
    })
    scripts.set(name, { script, known: cachedData !== undefined && script.cachedDataRejected !== true })
    const load = script.runInThisContext() as (this: unknown, ...values: unknown[]) => unknown
    const require = (id: string): unknown => this.require(id)
    return load.call(this.exports, this.exports, require, this, path, dirname(path))
  }
  runAtExit((code) => {
    const whole = code === 0
    if ([...scripts.values()].every(({ known }) => known) && (cached.whole || !whole)) return
    for (const [name, { script }] of scripts) cached.code.set(name, script.createCachedData())
    write(file, build, { whole: whole || cached.whole, code: cached.code })
  })
}

const wordBytes = 8
/** V8 copies what does not begin at a word of memory. */
const padToWord = (bytes: number): number => Math.ceil(bytes / wordBytes) * wordBytes

function readCached(file: string, build: string): CachedCode {
  try {
    const all = readOwnCode(file)
    let at = padToWord(wordBytes + all.readUInt32LE(0))
    const contents = JSON.parse(all.toString('utf8', wordBytes, at)) as Contents
    const code = new Map<string, Buffer>()
    for (const [path, bytes] of contents.scripts) {
      code.set(path, all.subarray(at, at + bytes))
      at += padToWord(bytes)
    }
    if (contents.build === build && at === all.length) return { whole: contents.whole, code }
  } catch {
    // There is none yet, it is torn, or another account could have written it.
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

function write(file: string, build: string, { whole, code }: CachedCode): void {
  const scripts = [...code].map(([path, { length }]): [string, number] => [path, length])
  const contents = Buffer.from(JSON.stringify({ build, whole, scripts } satisfies Contents))
  const head = Buffer.alloc(padToWord(wordBytes + contents.length), ' ')
  head.writeUInt32LE(contents.length)
  contents.copy(head, wordBytes)
  const parts = [...code.values()].flatMap((each) => [
    each,
    Buffer.alloc(padToWord(each.length) - each.length),
  ])
  try {
    const temporary = `${file}.${processId()}`
    // A killed process with the same id may have left it.
    rmSync(temporary, { force: true })
    const descriptor = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      writeFileSync(descriptor, Buffer.concat([head, ...parts]), { flush: true })
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, file)
  } catch {
    // A full disk: all it costs is a slower start.
  }
}
