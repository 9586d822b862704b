import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What befalls the files of a store between two runs. */
export const harms = ['restore', 'no wal', 'cut wal', 'torn wal', 'lost', 'torn list'] as const
export type Harm = (typeof harms)[number]

/** Memory is a disk too, whose fsync costs nothing; what a power cut takes is cut by `harm`. */
const disk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The files of one store, with its list of attempts in a folder of settings beside it. */
export class StoreFiles {
  readonly folder = mkdtempSync(join(disk, 'refcheck-simulation-'))
  readonly path = join(this.folder, 'data', 'ledger.sqlite')
  /** What is written in REFCHECK_STORE. */
  readonly chosen: string | undefined = undefined
  readonly busyMs: number = 0
  readonly paths = { config: join(this.folder, 'config'), data: join(this.folder, 'data') }

  /** As they stand, in the middle of whatever is going on: no transaction is open between two steps. */
  copy(name: string): void {
    for (const suffix of ['', '-wal']) {
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, join(this.folder, name + suffix))
      else rmSync(join(this.folder, name + suffix), { force: true })
    }
  }

  putBack(name: string): void {
    rmSync(`${this.path}-shm`, { force: true })
    for (const suffix of ['', '-wal']) {
      const from = join(this.folder, name + suffix)
      if (existsSync(from)) copyFileSync(from, this.path + suffix)
      else rmSync(this.path + suffix, { force: true })
    }
  }

  harm(harm: Harm, rng: () => number): void {
    const wal = `${this.path}-wal`
    const walSize = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
    if (harm === 'restore' && existsSync(join(this.folder, 'backup'))) this.putBack('backup')
    if (harm === 'no wal') rmSync(wal, { force: true })
    if (harm === 'cut wal' && walSize > 0) truncateSync(wal, Math.floor(rng() * walSize))
    if (harm === 'torn wal' && walSize > 0) scribble(wal, Math.floor(rng() * walSize))
    if (harm === 'lost')
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.path + suffix, { force: true })
    if (harm === 'torn list')
      for (const list of this.#lists()) appendFileSync(list, '\n0123456789abcdef ["half')
  }

  /** Where the store has a clock of its own. */
  tellTime(_now: number): Promise<void> {
    return Promise.resolve()
  }

  /** Where a process that is gone is waited for. */
  endLeases(): Promise<void> {
    return Promise.resolve()
  }

  /** A process died while it appended this attempt: half of its line is there, unless others came after it. */
  tearLine(attemptId: string): void {
    for (const list of this.#lists()) {
      const text = readFileSync(list, 'utf8')
      const at = text.lastIndexOf('\n')
      if (text.slice(at).includes(attemptId)) truncateSync(list, at + 20)
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #lists(): string[] {
    const folder = join(this.folder, 'config', 'attempts')
    if (!existsSync(folder)) return []
    return readdirSync(folder).flatMap((name) => (name.endsWith('.log') ? [join(folder, name)] : []))
  }
}

function scribble(path: string, at: number): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, at)
  closeSync(descriptor)
}
