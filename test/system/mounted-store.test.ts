import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { world } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

const batchRun = 'batch run people.csv --package 102 --yes --json'.split(' ')

recordForFaultTable('second-name', { mustNotHappen: 'used', titles: /mounted by itself/ })

/** Mounts a path at another path. Needs root. */
function bindMount(from: string, to: string): void {
  execFileSync('mount', ['--bind', from, to])
  onTestFinished(() => void execFileSync('umount', ['--lazy', to]))
}

test('a store file that is mounted by itself is refused, because its locks would be in two folders', async () => {
  const here = await world()
  writePeopleFile(here.folder, createEmails(3))
  expect((await here.run([...batchRun, '--max', '1'])).code).toBe(10)
  const mounted = join(here.folder, 'my store.sqlite')
  writeFileSync(mounted, '')
  bindMount(join(here.folder, 'data', 'ledger.sqlite'), mounted)
  const refused = await here.run(batchRun, { env: { REFCHECK_STORE: mounted } })
  expect([refused.code, refused.json()]).toMatchObject([
    1,
    {
      error: {
        message: `cannot use the store "${mounted}": the file is mounted by itself`,
        hint: expect.stringContaining('Mount the folder') as string,
      },
    },
  ])
  expect(here.listOrderedEmails()).toHaveLength(1)
})

test('a store in a mounted folder is used', async () => {
  const here = await world()
  writePeopleFile(here.folder, createEmails(3))
  expect((await here.run([...batchRun, '--max', '1'])).code).toBe(10)
  const mounted = join(here.folder, 'mounted')
  execFileSync('mkdir', [mounted])
  bindMount(join(here.folder, 'data'), mounted)
  const env = { REFCHECK_STORE: join(mounted, 'ledger.sqlite') }
  expect((await here.run(batchRun, { env })).code).toBe(0)
  expect(new Set(here.listOrderedEmails()).size).toBe(3)
})
