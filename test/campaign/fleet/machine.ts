import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Ended } from '../stage.ts'
import { emptyEnv } from '../../harness/service-env.ts'

export interface MachineOptions {
  folder: string
  /** How far its clock is off, in ms. */
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
  #child: ChildProcess | undefined
  /** Stopped by SIGSTOP until it goes on. */
  isPaused = false
  /** Has nothing more to do. */
  isDone = false

  constructor({ folder, skewMs, env, program }: MachineOptions) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
    this.#program = program
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import=${skewed(skewMs)}`,
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

  async run(argv: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [this.#program, ...argv], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    const taken = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    this.#child = undefined
    return { code, ...taken }
  }

  /** The process that is gone. */
  kill(): number | undefined {
    this.#child?.kill('SIGKILL')
    return this.#child?.pid
  }

  /** As a laptop that is closed, or a virtual machine that is moved; the process. */
  pause(): number | undefined {
    this.isPaused = this.#child?.kill('SIGSTOP') === true
    return this.#child?.pid
  }

  goOn(): void {
    this.isPaused = false
    this.#child?.kill('SIGCONT')
  }
}

/** What a process loads before anything else: its wall clock is off by so much, its monotonic one is not. */
function skewed(ms: number): string {
  const source = [
    'const { now } = Date',
    `Date.now = () => now() + ${ms}`,
    'globalThis.Date = class extends Date { constructor(...g) { g.length === 0 ? super(Date.now()) : super(...g) } }',
  ]
  return `data:text/javascript,${encodeURIComponent(source.join(';'))}`
}
