import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { CommandResult } from '../environment.ts'
import { emptyEnv } from '../../harness/service-env.ts'

export interface MachineOptions {
  folder: string
  /** Offset of the machine's clock in ms, until `setClock` changes it. */
  skewMs: number
  env: Record<string, string>
  /** Path of `bin/run.js` of the program that the machine runs. */
  program: string
}

/** A simulated machine with its own folder and clock, which runs one command after another. */
export class Machine {
  readonly folder: string
  readonly #env: Record<string, string>
  readonly #program: string
  readonly #clockFile: string
  #child: ChildProcess | undefined
  /** Whether its process is stopped by SIGSTOP, until `resume` is called. */
  isStopped = false
  /** Whether all files of the machine have been run. */
  isDone = false

  constructor({ folder, skewMs, env, program }: MachineOptions) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
    this.#program = program
    this.#clockFile = join(folder, 'clock')
    this.setClock(skewMs)
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import=${createClockSkewModule(this.#clockFile)}`,
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

  /** Sets the wall clock of all its processes, including those that are running. */
  setClock(skewMs: number): void {
    writeFileSync(this.#clockFile, String(skewMs))
  }

  async run(argv: readonly string[]): Promise<CommandResult> {
    return this.#run(argv, (child) => {
      this.#child = child
    })
  }

  /** Runs a command in parallel with the command of `run`. `kill` and `pause` do not affect it. */
  async runAlongside(argv: readonly string[]): Promise<CommandResult> {
    return this.#run(argv, () => undefined)
  }

  async #run(
    argv: readonly string[],
    setChild: (child: ChildProcess | undefined) => void,
  ): Promise<CommandResult> {
    const child = spawn(process.execPath, [this.#program, ...argv], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    setChild(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    setChild(undefined)
    return { code, ...output }
  }

  /** Kills the running command, and returns its process id. */
  kill(): number | undefined {
    this.#child?.kill('SIGKILL')
    return this.#child?.pid
  }

  /**
   * Stops the running command, as when a laptop is closed or a virtual machine is moved. Returns its process
   * id.
   */
  pause(): number | undefined {
    this.isStopped = this.#child?.kill('SIGSTOP') === true
    return this.#child?.pid
  }

  resume(): void {
    this.isStopped = false
    this.#child?.kill('SIGCONT')
  }
}

/**
 * Returns the URL of a module that a process loads first. The module shifts the wall clock by the ms in `file`,
 * which is read again every 50 ms, and leaves the monotonic clock unchanged.
 */
function createClockSkewModule(file: string): string {
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
