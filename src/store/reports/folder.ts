import { rmSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { InternalError, IoError } from '../../errors/kinds.ts'
import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import {
  HeldFolder,
  otherWriters,
  type WritableFolder,
  type Writers,
  requireOwnLinks,
} from '../../disk/held-folder.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { makeFolders } from '../../disk/folders.ts'
import { removeTemporaries, writeTemporary, writeFileAtomically } from '../../disk/whole-file.ts'
import {
  isSameName,
  manifestName,
  manifestTable,
  manifestTableName,
  parseJournalLine,
  parseManifest,
  reportKey,
  type ReportRecord,
  type ReportSubject,
} from '../../domain/report/record.ts'
import {
  type CheckedContent,
  closeBelow,
  fileHash,
  folderBelow,
  FolderFlushes,
  isWholePdf,
  makeFoldersBelow,
  obstacleAt,
  moveIntoFolder,
  readText,
  statusAt,
} from './file.ts'
import { type Patience, WorkFolder, type WorkOptions } from './work.ts'

export interface FolderOptions extends WorkOptions {
  /** Where the folder is for one file of this name alone, which gets no manifest. */
  alone?: string | undefined
  /** Rows as CSV. */
  csv(rows: readonly (readonly (string | number | null)[])[]): string
  /** Where the system has names of open descriptors; for tests. */
  descriptors?: string | undefined
}

export interface KeepRequest {
  open: () => Promise<CheckedContent>
  /** Called when the last byte came, before what is slow about a disk. */
  onReceived?: (() => void) | undefined
  /** Relative, `/` between its parts. */
  file: string
  /** Whether a regular file that stands there is replaced. */
  replace: boolean
  subject: ReportSubject
}

export type StoreResult =
  /** `there`: the very bytes stood there already. */
  | { outcome: 'stored' | 'there'; record: ReportRecord }
  /** Another file is in its path; nothing was changed. */
  | { outcome: 'refused'; why: string }

/** How a report on record stands on the disk. `changed` is a whole PDF, but another one; `damaged` is none. */
export type FileStatus = 'whole' | 'absent' | 'damaged' | 'changed'

const folderMode = 0o700

/** A folder that another run makes and removes again is opened again at most so often. */
const maxTries = 20

/** The accounts that a folder is open to, as messages name them. */
const othersIn: Readonly<Record<Writers, string>> = {
  all: 'every user of this machine',
  'its owner': 'the owner of the folder',
  'its group': 'every user of its group',
}

/** The command that takes a folder's permission to write away from others. */
export const makePrivate = (path: string, to: Exclude<Writers, 'its owner'>): string =>
  `chmod ${to === 'all' ? 'go-w' : 'g-w'} ${shellWord(path)}`

/** Coarsest time stamps of a file system (FAT). */
const stampMs = 2_000

/**
 * Reports in a folder, each whole or not at all, and the manifest that tells them apart. One run at a
 * time has it. What a killed run left is finished or removed when it is opened.
 */
export class ReportFolder {
  /** Absolute. */
  readonly path: string
  readonly #root: HeldFolder
  readonly #options: FolderOptions
  readonly #work: WorkFolder
  readonly #flushes = new FolderFlushes()
  readonly #records = new Map<string, ReportRecord>()
  /** What was put here by this run, in the order of its end. */
  readonly #fresh = new Set<string>()
  readonly #isNew: boolean
  #changed = false

  private constructor(root: HeldFolder, options: FolderOptions, work: WorkFolder, isNew: boolean) {
    this.path = root.path
    this.#root = root
    this.#options = options
    this.#work = work
    this.#isNew = isNew
  }

  /** Makes the folder where there is none. Throws IoError where it cannot be used; see WorkFolder for another run that has it. */
  static async open(path: string, options: FolderOptions, patience?: Patience): Promise<ReportFolder> {
    for (let tries = 1; ; tries += 1) {
      requireOwnLinks(path)
      const isNew = makeFolder(path)
      const root = HeldFolder.open(path, options.descriptors)
      try {
        return await ReportFolder.#openIn(root, isNew, options, patience)
      } catch (error) {
        // Another run made it, put nothing into it, and removed it.
        const isGone = root.isHeld && root.status.nlink === 0
        root.close()
        if (!isGone || tries === maxTries) throw root.withShownPath(error)
      }
    }
  }

  static async #openIn(
    root: HeldFolder,
    isNew: boolean,
    options: FolderOptions,
    patience?: Patience,
  ): Promise<ReportFolder> {
    const hidden = options.alone === undefined ? '.refcheck' : `.${options.alone.slice(0, 60)}.refcheck`
    const work = await WorkFolder.open(join(root.at, hidden), options, patience)
    const folder = new ReportFolder(root, options, work, isNew)
    try {
      await folder.#load()
    } catch (error) {
      if (work.left.length > 0) work.abandon()
      else await work.remove()
      throw error
    }
    return folder
  }

  /**
   * Who else may put files into it. Where the folder that is worked in, made for this account alone, looks open as well,
   * modes mean nothing (a USB stick, a network drive).
   */
  get isOpenTo(): Writers | undefined {
    return this.#hasModes ? otherWriters(this.#root.status) : undefined
  }

  /** The folder above it through which other accounts can exchange it. */
  get openAbove(): WritableFolder | undefined {
    return this.#hasModes ? this.#root.above : undefined
  }

  get #hasModes(): boolean {
    return (this.#work.status.mode & 0o077) === 0
  }

  /** In the order of the manifest. */
  records(): ReportRecord[] {
    return [...this.#records.values()]
  }

  record(subject: ReportSubject): ReportRecord | undefined {
    return this.#records.get(reportKey(subject))
  }

  /**
   * Unless `thorough`, a file of the right size with an unchanged time is taken as unchanged, where no other account could
   * have exchanged two reports.
   */
  async fileStatus(record: ReportRecord, thorough: boolean): Promise<FileStatus> {
    return this.#named(async () => {
      const path = join(this.#root.at, record.file)
      const status = statusAt(path)
      if (status === undefined) return 'absent'
      // A manifest, or a link in a folder that others may write to, must not lead elsewhere.
      if (obstacleAt(this.#root.at, record.file) !== undefined) return 'changed'
      if (!status.isFile()) return 'changed'
      const isUntouched = status.mtimeMs <= Date.parse(record.stored_at) + stampMs
      if (status.size === record.bytes) {
        if (isUntouched && !thorough && this.#openFolderOf(record.file) === undefined) return 'whole'
        if ((await fileHash(path)).sha256 === record.sha256) return 'whole'
      }
      return (await isWholePdf(path)) ? 'changed' : 'damaged'
    })
  }

  /** Stores a report; the content's own failures pass through, the disk's are IoErrors. */
  async keep(request: KeepRequest): Promise<StoreResult> {
    return this.#named(() => this.#keep(request))
  }

  async #keep({ file, replace, subject, open, onReceived }: KeepRequest): Promise<StoreResult> {
    const path = this.pathOf(file)
    const why = obstacleAt(this.#root.at, file)
    if (why !== undefined) return { outcome: 'refused', why }
    this.#requireSafeFolders('write', file)
    const temporary = this.#work.temporaryPath()
    const content = await open()
    await writeTemporary(temporary, path, content, { onContentEnd: onReceived })
    let isMoved = false
    try {
      if (content.received === undefined) throw new InternalError('a report was not read completely')
      const { request_reports, request_without, email, package_id, ...about } = subject
      const stored_at = new Date(this.#options.clock.now()).toISOString()
      const last = { request_reports, request_without, email, package_id }
      const record = { ...about, file, ...content.received, stored_at, ...last }
      const folder = await makeFoldersBelow(this.#root, file, this.#flushes)
      try {
        this.#work.note(JSON.stringify(record))
        const moved = await moveIntoFolder(temporary, join(folder.at, basename(path)), replace, record.sha256)
        isMoved = moved === 'stored'
        if (moved === 'another') return { outcome: 'refused', why: 'another file is there' }
        await this.#flushes.flush(join(this.#root.at, file, '..'))
        this.#put(record)
        return { outcome: moved, record }
      } catch (error) {
        throw folder.withShownPath(error)
      } finally {
        closeBelow(this.#root, folder)
      }
    } finally {
      if (!isMoved) rmSync(temporary, { force: true })
    }
  }

  /** Removes a file of ours that has another name now; never through a link. */
  async discard(file: string): Promise<void> {
    await this.#named(async () => {
      const path = this.pathOf(file)
      const why = obstacleAt(this.#root.at, file)
      if (why !== undefined)
        throw new IoError(`cannot remove "${path}": ${why}`, { hint: 'Look at it, and remove it yourself.' })
      this.#requireSafeFolders('remove', file)
      const folder = folderBelow(this.#root, file)
      if (folder === undefined) return
      try {
        await rm(join(folder.at, basename(path)), { force: true })
      } catch (error) {
        throw diskFailure('remove', path, error)
      } finally {
        closeBelow(this.#root, folder)
      }
    })
  }

  /**
   * Removes reports and their lines. A report that a link is in the way of, or could be, is left with its line, so that a
   * later purge finds it; answers the paths of those.
   */
  async erase(keys: readonly string[]): Promise<string[]> {
    const left: string[] = []
    for (const key of keys) {
      const record = this.#records.get(key)
      if (record === undefined) continue
      const { file } = record
      if (obstacleAt(this.#root.at, file) !== undefined || this.#unsafeFolderOf(file) !== undefined) {
        left.push(this.pathOf(file))
        continue
      }
      await this.discard(file)
      this.#records.delete(key)
      this.#changed = true
    }
    return left
  }

  /** The first folder of a name, beginning with this one, that other accounts may put files into. */
  #openFolderOf(file: string): (WritableFolder & { shown: string }) | undefined {
    if (!this.#hasModes) return undefined
    const parts = file.split('/').slice(0, -1)
    for (let depth = 0; depth <= parts.length; depth += 1) {
      const shown = parts.slice(0, depth).join('/')
      const status = depth === 0 ? this.#root.status : statusAt(join(this.#root.at, shown))
      if (status === undefined) return undefined
      const writers = otherWriters(status)
      if (writers !== undefined) return { path: this.pathOf(shown), writers, shown }
    }
    return undefined
  }

  /** The folder through which another account could have what is done with a file done elsewhere, or exchange its subfolder. */
  #unsafeFolderOf(file: string): (WritableFolder & { shown: string | undefined }) | undefined {
    const above = this.openAbove
    if (!this.#root.isHeld && above !== undefined) return { ...above, shown: undefined }
    return file.includes('/') ? this.#openFolderOf(file) : undefined
  }

  #requireSafeFolders(action: 'write' | 'remove', file: string): void {
    const open = this.#unsafeFolderOf(file)
    if (open === undefined) return
    const { path, writers, shown } = open
    const who = othersIn[writers]
    const does =
      shown === undefined
        ? `may exchange what is in "${path}"`
        : shown === ''
          ? `may put a link in place of its folder "${file.split('/')[0]}"`
          : `may put files into its folder "${shown}"`
    throw new IoError(`cannot ${action} "${this.pathOf(file)}": ${who} ${does}`, {
      hint:
        writers === 'its owner'
          ? 'Use a folder of your own.'
          : `Make the folder private with: ${makePrivate(path, writers)}`,
    })
  }

  /** Puts what is now known of a request's reports, those of them that are on record, in this order. */
  arrange(subjects: readonly ReportSubject[]): void {
    const known: [key: string, record: ReportRecord][] = []
    let isSame = true
    for (const subject of subjects) {
      const key = reportKey(subject)
      const before = this.#records.get(key)
      if (before === undefined || !isSameName(before, subject)) continue
      const record = { ...before, ...subject }
      known.push([key, record])
      isSame &&= !this.#fresh.has(key) && JSON.stringify(before) === JSON.stringify(record)
    }
    if (isSame) return
    for (const [key, record] of known) {
      this.#records.delete(key)
      this.#records.set(key, record)
    }
    this.#changed = true
  }

  /** Writes the manifest and leaves the folder as it should be found. */
  async close(): Promise<void> {
    try {
      await this.#named(() => this.#end())
    } finally {
      this.#root.close()
    }
  }

  async #end(): Promise<void> {
    try {
      if (this.#changed && this.#options.alone === undefined) await this.#writeManifest()
    } catch (error) {
      this.#work.abandon()
      throw error
    }
    await this.#work.remove()
    // Fails where something is in it, which is how it should be.
    if (this.#isNew) await rmdir(this.path).catch(() => undefined)
  }

  /** A failure names the folder by its path. */
  async #named<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#root.withShownPath(this.#work.named(error))
    }
  }

  #put(record: ReportRecord): void {
    const key = reportKey(record)
    this.#records.set(key, record)
    this.#fresh.add(key)
    this.#changed = true
  }

  /** Absolute. */
  pathOf(file: string): string {
    return join(this.path, ...file.split('/'))
  }

  async #load(): Promise<void> {
    if (this.#options.alone !== undefined) return
    const path = join(this.#root.at, manifestName)
    await removeTemporaries(path)
    await removeTemporaries(join(this.#root.at, manifestTableName))
    const text = await readText(path)
    for (const record of text === undefined ? [] : parseManifest(text, path)) {
      this.#records.set(reportKey(record), record)
    }
    if (this.#work.left.length > 0) await this.#recover()
  }

  /** What a killed run put in place and did not come to list. */
  async #recover(): Promise<void> {
    this.#changed = true
    for (const line of this.#work.left) {
      const record = parseJournalLine(line)
      if (record !== undefined && (await this.fileStatus(record, true)) === 'whole') this.#put(record)
    }
  }

  async #writeManifest(): Promise<void> {
    // A line that is no record marks that the two may not agree.
    this.#work.note('manifest')
    const records = this.records()
    // People open this one, and Excel reads UTF-8 without a mark as another encoding; programs have manifest.json.
    const table = `\uFEFF${this.#options.csv(manifestTable(records))}`
    await writeFileAtomically(join(this.#root.at, manifestName), `${JSON.stringify(records, null, 2)}\n`)
    await writeFileAtomically(join(this.#root.at, manifestTableName), table)
  }
}

/** Folders of reports on this machine. */
export interface ReportFolders {
  /** See ReportFolder; `alone` where it is opened for one file of this name. */
  open(path: string, patience: Patience, alone?: string): Promise<ReportFolder>
  /** What the manifest of a folder lists; nothing where it has none that can be read. */
  recordsIn(path: string): Promise<ReportRecord[]>
  /** Removes reports and their lines of the manifest; answers the paths of reports and manifests that still show a person. */
  erase(path: string, keys: readonly string[]): Promise<string[]>
}

export function reportFolders(options: Omit<FolderOptions, 'alone'>): ReportFolders {
  return {
    open: (path, patience, alone) => ReportFolder.open(path, { ...options, alone }, patience),
    recordsIn,
    async erase(path, keys) {
      if ((await recordsIn(path)).length === 0) return []
      const folder = await ReportFolder.open(path, options)
      try {
        const left = await folder.erase(keys)
        return left.length === 0 ? [] : [...left, join(path, manifestName)]
      } finally {
        await folder.close()
      }
    },
  }
}

/** What the manifest of a folder lists; nothing where it has none that can be read. */
export async function recordsIn(folder: string): Promise<ReportRecord[]> {
  const path = join(folder, manifestName)
  try {
    const text = await readText(path)
    return text === undefined ? [] : parseManifest(text, path)
  } catch (error) {
    if (error instanceof IoError) return []
    throw error
  }
}

/** Whether it was made just now. */
function makeFolder(path: string): boolean {
  try {
    return makeFolders(path, folderMode) !== undefined
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') {
      throw diskFailure('use the folder', path, Object.assign(new Error('not a folder'), { code: 'ENOTDIR' }))
    }
    throw diskFailure('make the folder', path, error)
  }
}
