import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { program } from '../program.ts'

export interface TracedRun {
  code: number | null
  stdout: string
  stderr: string
  /** System calls in sequence, one a line. */
  calls: string[]
}

/** Runs `refcheck …` under strace. `inject`: an strace expression such as `fdatasync:error=EIO:when=3`. */
export async function runWithStrace(
  folder: string,
  argv: readonly string[],
  env: Record<string, string>,
  inject?: string,
): Promise<TracedRun> {
  const log = join(folder, 'strace.log')
  const trace = [
    '-f',
    '-qq',
    '-y',
    '-s',
    '24',
    '-o',
    log,
    '-e',
    'trace=fdatasync,fsync,sendto,write,writev,sendmsg',
  ]
  const faults = inject === undefined ? [] : ['-e', `inject=${inject}`]
  const child = spawn('strace', [...trace, ...faults, process.execPath, program, ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output, calls: readFileSync(log, 'utf8').split('\n') }
}
