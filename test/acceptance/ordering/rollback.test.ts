import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { program } from '../../harness/program.ts'
import { sampleOf } from '../../harness/share.ts'
import { worldWithLargeQuota } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('store-rolled-back', { mustNotHappen: 'ordered twice' })

const rowCount = 60
const argv = [program, 'batch', 'run', 'people.csv', '--package', '102', '--yes', '--json']

/** Runs a batch with the built program, and kills it by SIGKILL once `orders` orders have reached the service. */
async function runAndKillAt(orders: number) {
  const { folder, sandbox, env: worldEnv } = await worldWithLargeQuota()
  writePeopleFile(folder, createEmails(rowCount))
  const env = { PATH: process.env['PATH'] ?? '', ...worldEnv }
  const run = async (
    args: readonly string[],
    killAt?: number,
  ): Promise<{ code: number | null; stdout: string }> => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    const unsubscribe = sandbox.log.subscribe(() => {
      if (killAt !== undefined && sandbox.requests().length >= killAt) child.kill('SIGKILL')
    })
    const [code] = (await once(child, 'close')) as [number | null]
    unsubscribe()
    return { code, stdout }
  }
  const { code } = await run(argv, orders)
  expect(code).toBeNull()
  return { folder, sandbox, run }
}

describe.each(sampleOf([1, 16, 45], 2))('a batch run that is killed at order %i of 60', (orders) => {
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
    'if %s, no person is ordered twice, and nothing is sent before a user accepts the store',
    async (_, damageStore) => {
      const { folder, sandbox, run } = await runAndKillAt(orders)
      const store = join(folder, 'data', 'ledger.sqlite')
      cpSync(join(folder, 'data'), join(folder, 'data.copy'), { recursive: true })
      damageStore(store)
      const orderCountBefore = sandbox.requests().length
      const refused = await run(argv)
      expect([refused.code, refused.stdout]).toMatchObject([
        1,
        expect.stringContaining('is closed: ') as string,
      ])
      expect(sandbox.requests()).toHaveLength(orderCountBefore)
      expect((await run([program, 'store', 'check'])).code).toBe(1)
      expect((await run([program, 'store', 'check', '--accept-older', '--yes'])).code).toBe(0)
      // The pending rows are held now, because they may have been sent.
      const [batch] = JSON.parse((await run([program, 'batch', 'list', '--json'])).stdout) as {
        batch_id: string
      }[]
      if (batch !== undefined) {
        // Without a terminal, such a row is released by its number only.
        const list = await run([program, 'batch', 'rows', batch.batch_id, '--state', 'held', '--json'])
        const rows = (JSON.parse(list.stdout) as { row: number }[]).flatMap(({ row }) => [
          '--row',
          String(row),
        ])
        await run([program, 'batch', 'release', batch.batch_id, ...rows])
      }
      // The results file of the run that was killed is empty, and the store may have lost its batch.
      await run([...argv, '--ignore-results'])
      const orderedEmails = sandbox.requests().map(({ recipient }) => recipient.email)
      expect(new Set(orderedEmails).size).toBe(orderedEmails.length)
      // At most one order, which was in flight when the process was killed, never reached the service.
      expect(orderedEmails.length).toBeGreaterThanOrEqual(rowCount - 1)
    },
    60_000,
  )
})
