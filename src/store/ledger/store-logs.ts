import { dirname } from 'node:path'

import { AttemptLog, type AttemptLogFiles, isVolatile, type LogFile } from './attempt-log.ts'
import type { Engine } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'
import { entriesOnlyInStore, readHeads, readLogs, registerLog, type StoreState } from './store-state.ts'
import { type ReadLog, readWhole } from './examine-store.ts'
import type { Head, LogNote, RegisteredLog } from '../../domain/store/attempt-log.ts'
import { type LogReport, noLogPossible } from '../../domain/store/closing.ts'
import type { Random } from '../../host/random.ts'

/** What this machine has found of a store's logs. */
export interface FoundLogs {
  /** The one that this machine appends to. */
  own: AttemptLog | undefined
  /** Evidence alone: copies, and logs of other folders. */
  others: LogFile[]
}

/** The attempt logs of one store on this machine. */
export class StoreLogs {
  readonly #parts: { files: AttemptLogFiles; engine: Engine; key: StoreKey; random: Random }
  #own: AttemptLog | undefined

  constructor(parts: { files: AttemptLogFiles; engine: Engine; key: StoreKey; random: Random }) {
    this.#parts = parts
  }

  get own(): AttemptLog | undefined {
    return this.#own
  }

  /** All of the store, and of one that was in its place. `registered`: as the store has them. */
  findFiles(registered: readonly LogReport[]): LogFile[] {
    const place = { store: this.#parts.engine.location, storeId: this.#parts.key.storeId }
    // A file belongs to one machine, whose settings folder may have been another one.
    const isHere = (log: LogReport): boolean =>
      !this.#parts.engine.dialect.isShared && this.#isOfThisMachine(log)
    return this.#parts.files.find(
      place,
      registered.filter(isHere).map(({ path }) => path),
    )
  }

  /** The same, with its own log open and read up to its end. */
  open(registered: readonly LogReport[], ignored: ReadonlySet<string>): FoundLogs {
    const found = this.findFiles(registered)
    const originals = found.filter(
      ({ isOriginal, header }) =>
        isOriginal &&
        header.storeId === this.#parts.key.storeId &&
        header.key === this.#parts.key.key &&
        !ignored.has(header.id),
    )
    const file = originals.find(({ header }) => registered.some(({ id }) => id === header.id)) ?? originals[0]
    if (this.#own?.path !== file?.path || file === undefined) this.close()
    this.#own ??= file && new AttemptLog(file)
    this.#own?.readGained()
    return { own: this.#own, others: found.filter((each) => each !== file) }
  }

  /** Ids of registered logs of this machine that are gone, or were replaced by a copy. */
  missingIds(registered: readonly LogReport[]): string[] {
    const found = this.findFiles(registered)
    const missing = registered.filter(
      (log) =>
        !log.isExcluded &&
        this.#isOfThisMachine(log) &&
        this.#parts.files.holds(log.path) &&
        !found.some(({ header, isOriginal }) => isOriginal && header.id === log.id),
    )
    return missing.map(({ id }) => id)
  }

  /**
   * Makes the store's log where there is none. Throws where none can be kept that outlasts this machine's next start, unless
   * a person allowed that or each commit waits for a second server.
   */
  make(state: StoreState): AttemptLog | undefined {
    const { location, dialect } = this.#parts.engine
    const mayBeLost = state.mayBeWithoutLog || state.isReplicated
    this.#own ??= this.#create(state, mayBeLost)
    const folder = this.#own && dirname(this.#own.path)
    if (folder !== undefined && dialect.isShared && !mayBeLost && isVolatile(folder))
      throw noLogPossible(location, [folder], 'volatile')
    return this.#own
  }

  /** Makes the log, registers it, and brings it up to the store. */
  async update(state: StoreState): Promise<void> {
    const log = this.make(state)
    if (log === undefined) return
    const { location, dialect } = this.#parts.engine
    const { id, store, register, movedTo, generation } = log.header
    const registered = state.logs.find((each) => each.id === id)
    if (registered === undefined || registered.isExcluded)
      await this.#parts.engine.run(registerLog(log.header))
    const logs = registered === undefined ? await this.#parts.engine.run(readLogs()) : state.logs
    const { current } = state.generations
    const heads = await this.#parts.engine.run(readHeads())
    if (generation !== current) log.writeHeader({ generation: current, heads })
    if (store !== location || movedTo !== undefined || idsOf(register) !== idsOf(logs))
      log.writeHeader({ store: location, movedTo: undefined, register: logs.map(withoutReport) })
    const lost = await this.#parts.engine.run(entriesOnlyInStore(dialect, { logId: id, heads: log.heads }))
    for (const entry of lost) log.append({ ...entry, kind: 'entry', generation: current })
    this.note(heads, current)
  }

  /** Appends heads that the log does not know yet, not flushed. */
  note(heads: readonly Head[], generation: string): void {
    const known = new Set(this.#own?.heads.map(({ attemptId }) => attemptId))
    const unknown = heads.filter(({ attemptId }) => !known.has(attemptId))
    if (unknown.length > 0) this.#own?.append(...unknown.map((head) => noteOf(head, generation)))
  }

  erase(registered: readonly LogReport[], attemptIds: ReadonlySet<string>): void {
    for (const file of this.findFiles(registered)) this.#parts.files.erase(file, attemptIds)
  }

  readAll(registered: readonly LogReport[]): ReadLog[] {
    return readWhole(this.#parts.files, this.findFiles(registered))
  }

  /** Records where the store went: a copy of it that is put back is closed by that. */
  async leave(to: string): Promise<void> {
    const { own } = this.open(await this.#parts.engine.run(readLogs()), new Set())
    own?.writeHeader({ movedTo: to })
  }

  close(): void {
    this.#own?.close()
    this.#own = undefined
  }

  #create(state: StoreState, mayBeLost: boolean): AttemptLog | undefined {
    const { location } = this.#parts.engine
    const file = this.#parts.files.create({
      id: this.#parts.random.uuid(),
      storeId: this.#parts.key.storeId,
      store: location,
      key: this.#parts.key.key,
      generation: state.generations.current,
      register: state.logs.map(withoutReport),
    })
    if (file === undefined && !mayBeLost)
      throw noLogPossible(location, this.#parts.files.folders, 'not writable')
    return file && new AttemptLog(file)
  }

  #isOfThisMachine({ host, machine }: RegisteredLog): boolean {
    return host === this.#parts.files.machine.host && machine === this.#parts.files.machine.id
  }
}

const withoutReport = ({ id, host, machine, path, lastAttemptAt }: LogReport): RegisteredLog => ({
  id,
  host,
  machine,
  path,
  lastAttemptAt,
})

const noteOf = (head: Head, generation: string): LogNote => ({ kind: 'note', generation, ...head })

const idsOf = (logs: readonly RegisteredLog[]): string => logs.map(({ id }) => id).join()
