import {
  appendFileSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Ways in which the files of a store are damaged between two rounds. 'cut wal': the WAL is truncated. 'torn wal':
 * 16 of its bytes are overwritten. 'lost': the store is deleted. 'torn list': half a line is appended to the attempt log.
 * 'copied settings': the folder of settings is replaced by a copy.
 */
export const damageKinds = [
  'restore',
  'no wal',
  'cut wal',
  'torn wal',
  'lost',
  'torn list',
  'copied settings',
] as const
export type DamageKind = (typeof damageKinds)[number]

/**
 * The parent of the folders of stores: a disk in memory if there is one, because fsync costs nothing there. The
 * losses of a power cut are simulated by `damage`.
 */
const temporaryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The files of one SQLite store, with its attempt log in a folder of settings next to it. */
export class StoreFiles {
  readonly folder = mkdtempSync(join(temporaryFolder, 'refcheck-simulation-'))
  readonly path = join(this.folder, 'data', 'ledger.sqlite')
  /** The value of REFCHECK_STORE. */
  readonly storeSetting: string | undefined = undefined
  readonly lockWaitMs: number = 0
  readonly paths = { config: join(this.folder, 'config'), data: join(this.folder, 'data') }

  /** Copies the files. This can be done between any two steps, because no transaction is open there. */
  copyTo(name: string): void {
    for (const suffix of ['', '-wal']) {
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, join(this.folder, name + suffix))
      else rmSync(join(this.folder, name + suffix), { force: true })
    }
  }

  restoreFrom(name: string): void {
    rmSync(`${this.path}-shm`, { force: true })
    for (const suffix of ['', '-wal']) {
      const from = join(this.folder, name + suffix)
      if (existsSync(from)) copyFileSync(from, this.path + suffix)
      else rmSync(this.path + suffix, { force: true })
    }
  }

  /**
   * Restores the copy `name` while processes use the files, which are overwritten or replaced by new files. Returns
   * false if there is no such copy.
   */
  restoreInUse(name: string, how: 'in place' | 'renamed'): boolean {
    if (!existsSync(join(this.folder, name))) return false
    if (how === 'renamed') for (const suffix of ['', '-wal']) rmSync(this.path + suffix, { force: true })
    this.restoreFrom(name)
    return true
  }

  damage(kind: DamageKind, rng: () => number): void {
    const wal = `${this.path}-wal`
    const walSize = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
    if (kind === 'restore' && existsSync(join(this.folder, 'backup'))) this.restoreFrom('backup')
    if (kind === 'no wal') rmSync(wal, { force: true })
    if (kind === 'cut wal' && walSize > 0) truncateSync(wal, Math.floor(rng() * walSize))
    if (kind === 'torn wal' && walSize > 0) overwriteBytes(wal, Math.floor(rng() * walSize))
    if (kind === 'lost')
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.path + suffix, { force: true })
    if (kind === 'copied settings' && existsSync(this.paths.config)) {
      cpSync(this.paths.config, `${this.paths.config}.copy`, { recursive: true })
      rmSync(this.paths.config, { recursive: true })
      renameSync(`${this.paths.config}.copy`, this.paths.config)
    }
    if (kind === 'torn list')
      for (const log of this.attemptLogs()) appendFileSync(log, '\n0123456789abcdef ["half')
  }

  /** Sets the clock of the server, if the store is on one. */
  setTime(_now: number): Promise<void> {
    return Promise.resolve()
  }

  /** Whether the store has an attempt. An SQLite store that lacks one is closed, so it needs no check. */
  hasAttempt(_id: string): Promise<boolean> {
    return Promise.resolve(true)
  }

  /** Ends the leases of killed processes, if the store waits for them. */
  endLeases(): Promise<void> {
    return Promise.resolve()
  }

  /**
   * Truncates the line of this attempt in the log, as if the process had been killed while it appended the
   * line. Does nothing if other lines follow.
   */
  tearLine(attemptId: string, config = this.paths.config): void {
    for (const log of this.attemptLogs(config)) {
      const text = readFileSync(log, 'utf8')
      const lineStart = text.lastIndexOf('\n')
      if (text.slice(lineStart).includes(attemptId)) truncateSync(log, lineStart + 20)
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The attempt logs of a machine, by the folder of its settings. */
  attemptLogs(config = this.paths.config): string[] {
    const folder = join(config, 'attempts')
    if (!existsSync(folder)) return []
    return readdirSync(folder).flatMap((name) => (name.endsWith('.log') ? [join(folder, name)] : []))
  }
}

function overwriteBytes(path: string, offset: number): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, offset)
  closeSync(descriptor)
}
