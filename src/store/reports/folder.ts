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
  hashFile,
  openFolderBelow,
  FolderFlushes,
  isWholePdf,
  makeFoldersBelow,
  findObstacle,
  moveIntoFolder,
  readText,
  lstatOrUndefined,
} from './file.ts'
import { type Patience, WorkFolder, type WorkOptions } from './work.ts'

export interface FolderOptions extends WorkOptions {
  /** The name of the only file for which the folder is used; it then gets no manifest. */
  onlyFile?: string | undefined
  /** Returns rows as CSV. */
  csv(rows: readonly (readonly (string | number | null)[])[]): string
  /** The folder in which the system lists open descriptors, if not /proc/self/fd; for tests. */
  descriptors?: string | undefined
}

export interface StoreRequest {
  /** Starts to read the content of the report. */
  open: () => Promise<CheckedContent>
  /** Called when the last byte was received, before the file is flushed. */
  onReceived?: (() => void) | undefined
  /** The relative path, with `/` between its parts. */
  file: string
  /** Whether an existing regular file is replaced. */
  replace: boolean
  /** The request, check and referee of the report, for the manifest. */
  subject: ReportSubject
}

export type StoreResult =
  /** `identical`: a file with the same bytes existed already. */
  | { outcome: 'stored' | 'identical'; record: ReportRecord }
  /** Another file or a link is in the way; nothing was changed. */
  | { outcome: 'refused'; why: string }

/**
 * The status of the file of a recorded report. `whole`: as it was stored; `changed`: a complete PDF with other content,
 * or not a regular file; `damaged`: not a complete PDF.
 */
export type FileStatus = 'whole' | 'absent' | 'damaged' | 'changed'

const folderMode = 0o700

/** Maximum number of times that a folder is opened while other runs make and remove it. */
const maxTries = 20

/** The accounts that may write to a folder, as named in messages. */
const writerNames: Readonly<Record<Writers, string>> = {
  all: 'every user of this machine',
  'its owner': 'the owner of the folder',
  'its group': 'every user of its group',
}

/** Returns the command that removes the permission of other accounts to write to a folder. */
export const chmodCommand = (path: string, writers: Exclude<Writers, 'its owner'>): string =>
  `chmod ${writers === 'all' ? 'go-w' : 'g-w'} ${shellWord(path)}`

/** The coarsest resolution of time stamps in a file system (FAT), in ms. */
const timestampResolutionMs = 2_000

/**
 * A folder of reports, each complete or absent, with a manifest that describes them. Only one run at a time can use
 * it. The work of a killed run is completed or removed when the folder is opened.
 */
export class ReportFolder {
  /** The absolute path of the folder. */
  readonly path: string
  readonly #root: HeldFolder
  readonly #options: FolderOptions
  readonly #work: WorkFolder
  readonly #flushes = new FolderFlushes()
  readonly #records = new Map<string, ReportRecord>()
  /** The keys of the reports that this run stored, in the order in which they were completed. */
  readonly #storedKeys = new Set<string>()
  /** Whether this run made the folder. */
  readonly #isNew: boolean
  /** Whether the records differ from those of the manifest on disk. */
  #hasNewRecords = false

  private constructor(root: HeldFolder, options: FolderOptions, work: WorkFolder, isNew: boolean) {
    this.path = root.path
    this.#root = root
    this.#options = options
    this.#work = work
    this.#isNew = isNew
  }

  /**
   * Makes the folder if it is missing, and opens it. Throws IoError if it cannot be used. See WorkFolder for a folder
   * that another run uses.
   */
  static async open(path: string, options: FolderOptions, patience?: Patience): Promise<ReportFolder> {
    for (let tries = 1; ; tries += 1) {
      requireOwnLinks(path)
      const isNew = makeFolder(path)
      const root = HeldFolder.open(path, options.descriptors)
      try {
        return await ReportFolder.#openIn(root, isNew, options, patience)
      } catch (error) {
        // Another run made the folder, stored nothing in it, and removed it.
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
    const workFolderName =
      options.onlyFile === undefined ? '.refcheck' : `.${options.onlyFile.slice(0, 60)}.refcheck`
    const work = await WorkFolder.open(join(root.systemPath, workFolderName), options, patience)
    const folder = new ReportFolder(root, options, work, isNew)
    try {
      await folder.#load()
    } catch (error) {
      if (work.oldJournal.length > 0) work.abandon()
      else await work.remove()
      throw error
    }
    return folder
  }

  /**
   * The other accounts that may put files into the folder. If even the private work folder appears to be open to
   * others, the file system has no permissions (a USB stick, a network drive), and the result is undefined.
   */
  get openToWriters(): Writers | undefined {
    return this.#hasModes ? otherWriters(this.#root.status) : undefined
  }

  /** The folder above this one in which other accounts could replace this one; undefined if there is none. */
  get exchangeableFolderAbove(): WritableFolder | undefined {
    return this.#hasModes ? this.#root.exchangeableFolder : undefined
  }

  /** Whether the file system has permissions. */
  get #hasModes(): boolean {
    return (this.#work.status.mode & 0o077) === 0
  }

  /** Returns the records in the order of the manifest. */
  records(): ReportRecord[] {
    return [...this.#records.values()]
  }

  record(subject: ReportSubject): ReportRecord | undefined {
    return this.#records.get(reportKey(subject))
  }

  /**
   * Returns the status of a report's file. Unless `readsContent`, a file with the recorded size and an unchanged time
   * counts as unchanged if no other account could have replaced it.
   */
  async fileStatus(record: ReportRecord, readsContent: boolean): Promise<FileStatus> {
    return this.#withShownPath(async () => {
      const path = join(this.#root.systemPath, record.file)
      const status = lstatOrUndefined(path)
      if (status === undefined) return 'absent'
      // The manifest, or a link in a folder that others may write to, must not cause another path to be read.
      if (findObstacle(this.#root.systemPath, record.file) !== undefined) return 'changed'
      if (!status.isFile()) return 'changed'
      const isUntouched = status.mtimeMs <= Date.parse(record.stored_at) + timestampResolutionMs
      if (status.size === record.bytes) {
        if (isUntouched && !readsContent && this.#findWritableFolder(record.file) === undefined)
          return 'whole'
        if ((await hashFile(path)).sha256 === record.sha256) return 'whole'
      }
      return (await isWholePdf(path)) ? 'changed' : 'damaged'
    })
  }

  /** Stores a report. Failures of the content are thrown unchanged, and failures of the disk as IoErrors. */
  async store(request: StoreRequest): Promise<StoreResult> {
    return this.#withShownPath(() => this.#store(request))
  }

  async #store({ file, replace, subject, open, onReceived }: StoreRequest): Promise<StoreResult> {
    const path = this.pathOf(file)
    const obstacle = findObstacle(this.#root.systemPath, file)
    if (obstacle !== undefined) return { outcome: 'refused', why: obstacle }
    this.#requireSafeFolders('write', file)
    const temporary = this.#work.temporaryPath()
    const content = await open()
    await writeTemporary(temporary, path, content, { onContentEnd: onReceived })
    let isMoved = false
    try {
      if (content.received === undefined) throw new InternalError('a report was not read completely')
      const { request_reports, request_without, email, package_id, ...firstFields } = subject
      const stored_at = new Date(this.#options.clock.now()).toISOString()
      const lastFields = { request_reports, request_without, email, package_id }
      // The fields of a record are in the order of the manifest.
      const record = { ...firstFields, file, ...content.received, stored_at, ...lastFields }
      const folder = await makeFoldersBelow(this.#root, file, this.#flushes)
      try {
        this.#work.appendToJournal(JSON.stringify(record))
        const outcome = await moveIntoFolder(
          temporary,
          join(folder.systemPath, basename(path)),
          replace,
          record.sha256,
        )
        isMoved = outcome === 'stored'
        if (outcome === 'another') return { outcome: 'refused', why: 'another file is there' }
        await this.#flushes.flush(join(this.#root.systemPath, file, '..'))
        this.#addRecord(record)
        return { outcome, record }
      } catch (error) {
        throw folder.withShownPath(error)
      } finally {
        closeBelow(this.#root, folder)
      }
    } finally {
      if (!isMoved) rmSync(temporary, { force: true })
    }
  }

  /** Removes a file of this folder whose report is now stored under another name; never through a link. */
  async discard(file: string): Promise<void> {
    await this.#withShownPath(async () => {
      const path = this.pathOf(file)
      const obstacle = findObstacle(this.#root.systemPath, file)
      if (obstacle !== undefined)
        throw new IoError(`cannot remove "${path}": ${obstacle}`, {
          hint: 'Look at it, and remove it yourself.',
        })
      this.#requireSafeFolders('remove', file)
      const folder = openFolderBelow(this.#root, file)
      if (folder === undefined) return
      try {
        await rm(join(folder.systemPath, basename(path)), { force: true })
      } catch (error) {
        throw diskFailure('remove', path, error)
      } finally {
        closeBelow(this.#root, folder)
      }
    })
  }

  /**
   * Removes reports and their lines in the manifest. If a link is in the path of a report, or other accounts could
   * put one there, the report is kept with its line, so that a later purge finds it. Returns the paths of the reports
   * that were kept.
   */
  async erase(keys: readonly string[]): Promise<string[]> {
    const notRemoved: string[] = []
    for (const key of keys) {
      const record = this.#records.get(key)
      if (record === undefined) continue
      const { file } = record
      if (
        findObstacle(this.#root.systemPath, file) !== undefined ||
        this.#findUnsafeFolder(file) !== undefined
      ) {
        notRemoved.push(this.pathOf(file))
        continue
      }
      await this.discard(file)
      this.#records.delete(key)
      this.#hasNewRecords = true
    }
    return notRemoved
  }

  /**
   * Returns the first folder in the path of a file, from this one on, into which other accounts may put files;
   * undefined if there is none. `relativePath`: its path in this folder, '' for this folder itself.
   */
  #findWritableFolder(file: string): (WritableFolder & { relativePath: string }) | undefined {
    if (!this.#hasModes) return undefined
    const parts = file.split('/').slice(0, -1)
    for (let depth = 0; depth <= parts.length; depth += 1) {
      const relativePath = parts.slice(0, depth).join('/')
      const status =
        depth === 0 ? this.#root.status : lstatOrUndefined(join(this.#root.systemPath, relativePath))
      if (status === undefined) return undefined
      const writers = otherWriters(status)
      if (writers !== undefined) return { path: this.pathOf(relativePath), writers, relativePath }
    }
    return undefined
  }

  /**
   * Returns the folder in which another account could replace a part of the path of a file, so that another file
   * would be changed; undefined if there is none. `relativePath` is undefined for a folder above this one.
   */
  #findUnsafeFolder(file: string): (WritableFolder & { relativePath: string | undefined }) | undefined {
    const above = this.exchangeableFolderAbove
    if (!this.#root.isHeld && above !== undefined) return { ...above, relativePath: undefined }
    return file.includes('/') ? this.#findWritableFolder(file) : undefined
  }

  #requireSafeFolders(action: 'write' | 'remove', file: string): void {
    const unsafeFolder = this.#findUnsafeFolder(file)
    if (unsafeFolder === undefined) return
    const { path, writers, relativePath } = unsafeFolder
    const writersText = writerNames[writers]
    const risk =
      relativePath === undefined
        ? `may exchange what is in "${path}"`
        : relativePath === ''
          ? `may put a link in place of its folder "${file.split('/')[0]}"`
          : `may put files into its folder "${relativePath}"`
    throw new IoError(`cannot ${action} "${this.pathOf(file)}": ${writersText} ${risk}`, {
      hint:
        writers === 'its owner'
          ? 'Use a folder of your own.'
          : `Make the folder private with: ${chmodCommand(path, writers)}`,
    })
  }

  /** Updates the records of a request's reports, and sorts them as `subjects`. Reports without a record are ignored. */
  updateRecords(subjects: readonly ReportSubject[]): void {
    const recordsInOrder: [key: string, record: ReportRecord][] = []
    let isSame = true
    for (const subject of subjects) {
      const key = reportKey(subject)
      const oldRecord = this.#records.get(key)
      if (oldRecord === undefined || !isSameName(oldRecord, subject)) continue
      const record = { ...oldRecord, ...subject }
      recordsInOrder.push([key, record])
      isSame &&= !this.#storedKeys.has(key) && JSON.stringify(oldRecord) === JSON.stringify(record)
    }
    if (isSame) return
    for (const [key, record] of recordsInOrder) {
      this.#records.delete(key)
      this.#records.set(key, record)
    }
    this.#hasNewRecords = true
  }

  /** Writes the manifest if it has changed, removes the work folder, and closes the folder. */
  async close(): Promise<void> {
    try {
      await this.#withShownPath(() => this.#finish())
    } finally {
      this.#root.close()
    }
  }

  async #finish(): Promise<void> {
    try {
      if (this.#hasNewRecords && this.#options.onlyFile === undefined) await this.#writeManifest()
    } catch (error) {
      this.#work.abandon()
      throw error
    }
    await this.#work.remove()
    // rmdir fails if the folder has content, and must not remove it then.
    if (this.#isNew) await rmdir(this.path).catch(() => undefined)
  }

  /** Runs `work` so that its errors contain the path of the folder instead of a descriptor's name. */
  async #withShownPath<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#root.withShownPath(this.#work.withShownPath(error))
    }
  }

  #addRecord(record: ReportRecord): void {
    const key = reportKey(record)
    this.#records.set(key, record)
    this.#storedKeys.add(key)
    this.#hasNewRecords = true
  }

  /** Returns the absolute path of a file in this folder. */
  pathOf(file: string): string {
    return join(this.path, ...file.split('/'))
  }

  async #load(): Promise<void> {
    if (this.#options.onlyFile !== undefined) return
    const path = join(this.#root.systemPath, manifestName)
    await removeTemporaries(path)
    await removeTemporaries(join(this.#root.systemPath, manifestTableName))
    const text = await readText(path)
    for (const record of text === undefined ? [] : parseManifest(text, path)) {
      this.#records.set(reportKey(record), record)
    }
    if (this.#work.oldJournal.length > 0) await this.#recover()
  }

  /** Adds the reports that a killed run stored but did not add to the manifest. */
  async #recover(): Promise<void> {
    this.#hasNewRecords = true
    for (const line of this.#work.oldJournal) {
      const record = parseJournalLine(line)
      if (record !== undefined && (await this.fileStatus(record, true)) === 'whole') this.#addRecord(record)
    }
  }

  async #writeManifest(): Promise<void> {
    // A line that is not a record marks that the two manifests may differ.
    this.#work.appendToJournal('manifest')
    const records = this.records()
    // Users open this file, and Excel expects a byte order mark in UTF-8; programs read manifest.json.
    const table = `\uFEFF${this.#options.csv(manifestTable(records))}`
    await writeFileAtomically(
      join(this.#root.systemPath, manifestName),
      `${JSON.stringify(records, null, 2)}\n`,
    )
    await writeFileAtomically(join(this.#root.systemPath, manifestTableName), table)
  }
}

/** Access to the folders of reports on this machine. */
export interface ReportFolders {
  /** Opens a folder (see ReportFolder). `onlyFile`: the name of the only file for which it is used. */
  open(path: string, patience: Patience, onlyFile?: string): Promise<ReportFolder>
  /** Returns the records in a folder's manifest; empty if there is no manifest that can be read. */
  readRecords(path: string): Promise<ReportRecord[]>
  /**
   * Removes reports and their lines in the manifest. Returns the paths of reports and manifests that still contain a
   * person's data.
   */
  erase(path: string, keys: readonly string[]): Promise<string[]>
}

export function openReportFolders(options: Omit<FolderOptions, 'onlyFile'>): ReportFolders {
  return {
    open: (path, patience, onlyFile) => ReportFolder.open(path, { ...options, onlyFile }, patience),
    readRecords,
    async erase(path, keys) {
      if ((await readRecords(path)).length === 0) return []
      const folder = await ReportFolder.open(path, options)
      try {
        const notRemoved = await folder.erase(keys)
        return notRemoved.length === 0 ? [] : [...notRemoved, join(path, manifestName)]
      } finally {
        await folder.close()
      }
    },
  }
}

/** Returns the records in a folder's manifest; empty if there is no manifest that can be read. */
export async function readRecords(folder: string): Promise<ReportRecord[]> {
  const path = join(folder, manifestName)
  try {
    const text = await readText(path)
    return text === undefined ? [] : parseManifest(text, path)
  } catch (error) {
    if (error instanceof IoError) return []
    throw error
  }
}

/** Makes a folder. Returns false if it exists already. */
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
