import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

export type Flood = 'silent' | 'half a head' | 'no body' | 'large body' | 'tiny chunks' | 'many requests'

/** Opens `count` connections of one kind to a server, from another process. They are closed at the end of the test. */
export async function floodServer(url: string, kind: Flood, count: number): Promise<void> {
  const argv = [join(import.meta.dirname, 'flood.ts'), new URL(url).port, kind, String(count)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
}

/** Returns the peak memory of a process until now. */
export function peakMebibytes(pid: number | undefined): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
