import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../../harness/batch-file.ts'
import { program } from '../../harness/program.ts'
import { sampleOf } from '../../harness/share.ts'
import { roomyWorld } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('forgotten', 'ordered twice')

const rows = 60
const argv = [program, 'batch', 'run', 'people.csv', '--package', '102', '--yes', '--json']

/** A batch on the shipped program, killed by SIGKILL once so many orders have reached the service. */
async function killedAt(orders: number) {
  const { folder, sandbox, env: own } = await roomyWorld()
  peopleFile(folder, emails(rows))
  const env = { PATH: process.env['PATH'] ?? '', ...own }
  const run = async (
    args: readonly string[],
    killAt?: number,
  ): Promise<{ code: number | null; stdout: string }> => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    const stop = sandbox.log.subscribe(() => {
      if (killAt !== undefined && sandbox.requests().length >= killAt) child.kill('SIGKILL')
    })
    const [code] = (await once(child, 'close')) as [number | null]
    stop()
    return { code, stdout }
  }
  const { code } = await run(argv, orders)
  expect(code).toBeNull()
  return { folder, sandbox, run }
}

describe.each(sampleOf([1, 16, 45], 2))('killed at order %i of 60', (orders) => {
  test.each([
    ['its -wal is removed', (store: string) => rmSync(`${store}-wal`, { force: true })],
    [
      'its -wal is cut in half',
      (store: string) => {
        spawnSync('sh', ['-c', 'truncate -s $(( $(stat -c %s "$1") / 2 )) "$1"', 'sh', `${store}-wal`])
        rmSync(`${store}-shm`, { force: true })
      },
    ],
  ])(
    '%s: nobody is ordered twice, and nothing is sent before a person has seen it',
    async (_, harm) => {
      const { folder, sandbox, run } = await killedAt(orders)
      const store = join(folder, 'data', 'ledger.sqlite')
      cpSync(join(folder, 'data'), join(folder, 'data.kept'), { recursive: true })
      harm(store)
      const before = sandbox.requests().length
      const refused = await run(argv)
      expect([refused.code, refused.stdout]).toMatchObject([
        1,
        expect.stringContaining('is closed: ') as string,
      ])
      expect(sandbox.requests()).toHaveLength(before)
      expect((await run([program, 'store', 'check'])).code).toBe(1)
      expect((await run([program, 'store', 'check', '--accept-older', '--yes'])).code).toBe(0)
      // What waited is held, since it may have been sent.
      const [batch] = JSON.parse((await run([program, 'batch', 'list', '--json'])).stdout) as {
        batch_id: string
      }[]
      if (batch !== undefined) await run([program, 'batch', 'release', batch.batch_id, '--all'])
      await run(argv)
      const people = sandbox.requests().map(({ recipient }) => recipient.email)
      expect(new Set(people).size).toBe(people.length)
      // At most the one that was in flight never reached the service.
      expect(people.length).toBeGreaterThanOrEqual(rows - 1)
    },
    60_000,
  )
})
