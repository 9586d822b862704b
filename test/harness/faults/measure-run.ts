import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { program } from '../program.ts'

export interface RunMeasurement {
  /** Exit code; null if the process was killed after `maxMs`. */
  code: number | null
  stdout: string
  stderr: string
  seconds: number
  /** Peak memory that the kernel reports. */
  mebibytes: number
}

/** Runs `refcheck …` in another process and measures its time and memory. */
export async function measureRun(
  folder: string,
  argv: readonly string[],
  env: Record<string, string>,
  maxMs = 30_000,
): Promise<RunMeasurement> {
  const peak = join(folder, 'peak')
  // Reads /proc, because getrusage may report the peak of the parent process.
  const atExit = `process.on('exit', () => {
    const fs = process.getBuiltinModule('node:fs')
    const [, peak] = /^VmHWM:\\s+(\\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))
    fs.writeFileSync(${JSON.stringify(peak)}, peak)
  })`
  const startedAt = performance.now()
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: maxMs,
    killSignal: 'SIGKILL',
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const seconds = (performance.now() - startedAt) / 1000
  const kibibytes = existsSync(peak) ? Number(readFileSync(peak, 'utf8')) : Number.NaN
  return { code, ...output, seconds, mebibytes: kibibytes / 1024 }
}
