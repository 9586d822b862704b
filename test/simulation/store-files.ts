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

/** What befalls the files of a store between two runs. */
export const harms = [
  'restore',
  'no wal',
  'cut wal',
  'torn wal',
  'lost',
  'torn list',
  'copied settings',
] as const
export type Harm = (typeof harms)[number]

/** Memory is a disk too, whose fsync costs nothing; what a power cut takes is cut by `harm`. */
const disk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The files of one store, with its attempt log in a folder of settings next to it. */
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

  restore(name: string): void {
    rmSync(`${this.path}-shm`, { force: true })
    for (const suffix of ['', '-wal']) {
      const from = join(this.folder, name + suffix)
      if (existsSync(from)) copyFileSync(from, this.path + suffix)
      else rmSync(this.path + suffix, { force: true })
    }
  }

  /** What was copied last takes the place of what stands there: written over it, or as another file. */
  putBackInUse(name: string, how: 'in place' | 'renamed'): boolean {
    if (!existsSync(join(this.folder, name))) return false
    if (how === 'renamed') for (const suffix of ['', '-wal']) rmSync(this.path + suffix, { force: true })
    this.restore(name)
    return true
  }

  harm(harm: Harm, rng: () => number): void {
    const wal = `${this.path}-wal`
    const walSize = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
    if (harm === 'restore' && existsSync(join(this.folder, 'backup'))) this.restore('backup')
    if (harm === 'no wal') rmSync(wal, { force: true })
    if (harm === 'cut wal' && walSize > 0) truncateSync(wal, Math.floor(rng() * walSize))
    if (harm === 'torn wal' && walSize > 0) scribble(wal, Math.floor(rng() * walSize))
    if (harm === 'lost')
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.path + suffix, { force: true })
    if (harm === 'copied settings' && existsSync(this.paths.config)) {
      cpSync(this.paths.config, `${this.paths.config}.copy`, { recursive: true })
      rmSync(this.paths.config, { recursive: true })
      renameSync(`${this.paths.config}.copy`, this.paths.config)
    }
    if (harm === 'torn list')
      for (const list of this.lists()) appendFileSync(list, '\n0123456789abcdef ["half')
  }

  /** Where the store has a clock of its own. */
  setTime(_now: number): Promise<void> {
    return Promise.resolve()
  }

  /** A file is never without an attempt that was sent, unless it is closed. */
  hasAttempt(_id: string): Promise<boolean> {
    return Promise.resolve(true)
  }

  /** Where a process that is gone is waited for. */
  endLeases(): Promise<void> {
    return Promise.resolve()
  }

  /** A process died while it appended this attempt: half of its line is there, unless others came after it. */
  tearLine(attemptId: string, config = this.paths.config): void {
    for (const list of this.lists(config)) {
      const text = readFileSync(list, 'utf8')
      const at = text.lastIndexOf('\n')
      if (text.slice(at).includes(attemptId)) truncateSync(list, at + 20)
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The attempt logs of a machine, by the folder of its settings. */
  lists(config = this.paths.config): string[] {
    const folder = join(config, 'attempts')
    if (!existsSync(folder)) return []
    return readdirSync(folder).flatMap((name) => (name.endsWith('.log') ? [join(folder, name)] : []))
  }
}

function scribble(path: string, at: number): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, at)
  closeSync(descriptor)
}
