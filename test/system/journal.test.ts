import { existsSync } from 'node:fs'

import { beforeAll, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { worldWithLargeQuota } from '../harness/world.ts'
import { runWithStrace } from '../harness/faults/strace.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

const powerLossRow = recordForFaultTable('power-loss', {
  mustNotHappen: 'POSTs too early',
  titles: /before the first byte/,
})
const diskRow = recordForFaultTable('disk', {
  mustNotHappen: 'failed flushes with a person ordered twice or lost',
  titles: /fails at any flush/,
})

const orderCount = 100
/** The number of flushes in a batch of two rows. */
const maxFlushes = 12

beforeAll(() => {
  if (!existsSync('/usr/bin/strace')) throw new Error('there is no strace: apt-get install strace')
})

/** Returns a function that finds flushes of the journal among system calls. strace may print a call in two parts. */
function createFlushDetector(): (call: string) => boolean {
  const started = new Set<string>()
  return (call) => {
    const [thread = ''] = call.split(' ')
    if (/f(data)?sync\(\d+<[^>]*ledger\.sqlite-wal> <unfinished/.test(call)) started.add(thread)
    if (/<\.\.\. f(data)?sync resumed>\) += 0/.test(call)) return started.delete(thread)
    return /f(data)?sync\(\d+<[^>]*ledger\.sqlite-wal>\) += 0/.test(call)
  }
}

const isPost = (call: string): boolean =>
  /(write|writev|sendto|sendmsg)\(\d+<(TCP|socket)[^>]*>.*POST \/v1\/req/.test(call)

test(`the journal is on the disk before the first byte of each of ${orderCount} orders leaves`, async () => {
  const { sandbox, folder, env } = await worldWithLargeQuota()
  const file = writePeopleFile(folder, createEmails(orderCount))
  const { code, calls } = await runWithStrace(
    folder,
    ['batch', 'run', file, '--package', '102', '--yes', '--json'],
    env,
  )
  expect(code).toBe(0)
  expect(sandbox.requests()).toHaveLength(orderCount)
  let posts = 0
  let tooEarly = 0
  let isFlushed = false
  const isFlush = createFlushDetector()
  for (const call of calls) {
    if (isFlush(call)) isFlushed = true
    if (!isPost(call)) continue
    posts += 1
    if (!isFlushed) tooEarly += 1
    isFlushed = false
  }
  powerLossRow.countCases(posts, posts - tooEarly)
  expect({ posts, tooEarly }).toEqual({ posts: orderCount, tooEarly: 0 })
})

test('a disk that fails at any flush: nothing more is sent, the known results are reported, and the store is sound', async () => {
  diskRow.countCases(maxFlushes)
  for (let flush = 1; flush <= maxFlushes; flush += 1) {
    const { sandbox, folder, env } = await worldWithLargeQuota()
    const file = writePeopleFile(folder, createEmails(2))
    const argv = ['batch', 'run', file, '--package', '102', '--yes', '--json']
    const failed = await runWithStrace(folder, argv, env, `fsync,fdatasync:error=EIO:when=${flush}`)
    const sent = sandbox.requests().length
    const isReported = failed.code === 0 || (failed.code === 1 && failed.stdout.includes('"code": "io"'))
    expect({ flush, isReported }).toEqual({ flush, isReported: true })
    const again = await runWithStrace(folder, argv, env)
    const people = sandbox.requests().map(({ recipient }) => recipient.email)
    expect({ flush, twice: people.length - new Set(people).size }).toEqual({ flush, twice: 0 })
    expect([0, 8]).toContain(again.code)
    expect(people.length).toBeGreaterThanOrEqual(sent)
  }
}, 300_000)
