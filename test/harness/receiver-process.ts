import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { program } from './program.ts'

export interface ReceiverProcess {
  child: ChildProcess
  stderr: () => string
  url: string
  ended: Promise<unknown>
}

/** Starts `refcheck webhook listen --port 0 …` in another process and waits until it listens. */
export async function startReceiverProcess(
  argv: readonly string[],
  env: Record<string, string>,
  stdout: 'ignore' | 'pipe' = 'ignore',
  programPath = program,
): Promise<ReceiverProcess> {
  const child = spawn(process.execPath, [programPath, 'webhook', 'listen', '--port', '0', ...argv], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', stdout, 'pipe'],
  })
  const ended = once(child, 'close')
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = /Listening at (\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('close', () => reject(new Error(`it ended before it listened: ${text}`)))
  })
  return { child, stderr: () => text, url, ended }
}
