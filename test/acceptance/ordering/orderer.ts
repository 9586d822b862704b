import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { Command, Report } from './ordering-process.ts'

/** A child process that orders on command. */
export interface Orderer {
  readonly process: ChildProcess
  /** Makes an order and returns its report; undefined if the process was killed. */
  order(command: Command): Promise<Report | undefined>
  /** Kills the process by SIGKILL, and waits until it has ended. */
  kill(): Promise<void>
}

const program = new URL('ordering-process.ts', import.meta.url).pathname

export async function startOrderer(): Promise<Orderer> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'exit')
  const { value } = await lines.next()
  if (value !== 'ready') throw new Error(`the ordering process said ${String(value)}`)
  return {
    process: child,
    async order(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      const line = await lines.next()
      return line.done === true ? undefined : (JSON.parse(line.value) as Report)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
