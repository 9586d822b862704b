import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Ended } from '../stage.ts'
import { emptyEnv } from '../../harness/service-env.ts'

export interface MachineOptions {
  folder: string
  /** How far its clock is off, in ms, until it is set. */
  skewMs: number
  env: Record<string, string>
  /** `bin/run.js` of the program that it has. */
  program: string
}

/** A machine with a disk and a clock of its own, that runs one command after another. */
export class Machine {
  readonly folder: string
  readonly #env: Record<string, string>
  readonly #program: string
  readonly #clock: string
  #child: ChildProcess | undefined
  /** Stopped by SIGSTOP until it goes on. */
  isStopped = false
  /** Has nothing more to do. */
  isDone = false

  constructor({ folder, skewMs, env, program }: MachineOptions) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
    this.#program = program
    this.#clock = join(folder, 'clock')
    this.setClock(skewMs)
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import=${skewed(this.#clock)}`,
      ...emptyEnv(folder),
      ...env,
    }
  }

  get isBusy(): boolean {
    return this.#child !== undefined
  }

  write(name: string, lines: readonly string[]): void {
    writeFileSync(join(this.folder, name), `${lines.join('\n')}\n`)
  }

  /** Sets the wall clock of all its processes, also of those that run. */
  setClock(skewMs: number): void {
    writeFileSync(this.#clock, String(skewMs))
  }

  async run(argv: readonly string[]): Promise<Ended> {
    return this.#run(argv, (child) => {
      this.#child = child
    })
  }

  /** The same next to what runs; it is neither killed nor paused. */
  async runAlongside(argv: readonly string[]): Promise<Ended> {
    return this.#run(argv, () => undefined)
  }

  async #run(argv: readonly string[], onStart: (child: ChildProcess | undefined) => void): Promise<Ended> {
    const child = spawn(process.execPath, [this.#program, ...argv], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onStart(child)
    const taken = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    onStart(undefined)
    return { code, ...taken }
  }

  /** The process that is gone. */
  kill(): number | undefined {
    this.#child?.kill('SIGKILL')
    return this.#child?.pid
  }

  /** As a laptop that is closed, or a virtual machine that is moved; the process. */
  pause(): number | undefined {
    this.isStopped = this.#child?.kill('SIGSTOP') === true
    return this.#child?.pid
  }

  goOn(): void {
    this.isStopped = false
    this.#child?.kill('SIGCONT')
  }
}

/**
 * What a process loads before anything else: its wall clock is off by what a file says, its monotonic one is not. The file
 * is read again every 50 ms.
 */
function skewed(file: string): string {
  const source = [
    "import { readFileSync } from 'node:fs'",
    'const { now } = Date',
    'let skew = 0',
    'let readAt = -1000',
    `const read = () => { try { skew = Number(readFileSync(${JSON.stringify(file)}, 'utf8')) } catch {} }`,
    'const ahead = () => { if (performance.now() - readAt > 50) { readAt = performance.now(); read() } return skew }',
    'Date.now = () => now() + ahead()',
    'globalThis.Date = class extends Date { constructor(...g) { g.length === 0 ? super(Date.now()) : super(...g) } }',
  ]
  return `data:text/javascript,${encodeURIComponent(source.join(';'))}`
}
