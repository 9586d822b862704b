import { chmodSync, chownSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { doctorSession } from '../harness/doctor-session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { orderArguments } from '../harness/people.ts'
import type { Session } from '../harness/session.ts'

recordForFaultTable('shared-folder', { mustNotHappen: 'reported as private' })

const readPrivacyLines = async ({ type }: Session, env: Record<string, string>) => {
  const { code, stdout } = await type('doctor', { env })
  const lines = stdout.split('\n')
  const at = lines.findIndex((line) => /^\w+ +privacy /.test(line))
  return { code, lines: lines.slice(at, at + 2).filter((line) => !line.startsWith('ok    cert')) }
}

test('doctor warns of a folder in which other users could replace files', async () => {
  const here = await doctorSession()
  const folder = join(here.folder, 'shared')
  mkdirSync(folder)
  const env = { REFCHECK_STORE: join(folder, 'orders.sqlite') }
  await here.type(orderArguments('Priya'), { env })
  const warning = 'may write to "HOME/shared" (0775) and replace files of refcheck'
  for (const variables of [env, { REFCHECK_DATA_DIR: join(folder, 'data') }]) {
    chmodSync(folder, 0o775)
    const { code, lines } = await readPrivacyLines(here, variables)
    expect({ code, lines: lines.map((line) => line.replaceAll(here.folder, 'HOME')) }).toEqual({
      code: 0,
      lines: [
        `warn  privacy       other users of this machine ${warning}`,
        '                    Run chmod go-w on each, or keep the files of refcheck elsewhere.',
      ],
    })
  }
})

// Only root can change the owner of a file.
test.each(process.getuid?.() === 0 ? ['ledger.sqlite', 'ledger.sqlite-wal'] : [])(
  'doctor warns of a store file of another account (%s)',
  async (name) => {
    const here = await doctorSession()
    await here.type(orderArguments('Priya'))
    const file = join(here.folder, 'data', name)
    writeFileSync(file, '', { flag: 'a', mode: 0o600 })
    chownSync(file, 54_321, 54_321)
    const { lines } = await readPrivacyLines(here, {})
    expect(lines).toEqual([
      `warn  privacy       another user of this machine owns "${file}"`,
      '                    Run refcheck as that user, or keep the files of refcheck elsewhere.',
    ])
    if (name !== 'ledger.sqlite') return
    const { code, stdout } = await here.type('doctor')
    expect(code).toBe(1)
    expect(stdout).toContain(
      `fail  store         the store "${file}" could be replaced by others: "${file}": it belongs to another user of this machine\n`,
    )
    expect((await here.type('batch list')).stderr).toContain(
      `The store’s file "${file}" is not safe: it belongs to another user of this machine.`,
    )
    const refused = await here.type(orderArguments('Marcus'))
    expect([refused.code, refused.stderr]).toMatchObject([
      1,
      expect.stringContaining(
        `Error: cannot order with the store "${file}": it belongs to another user of this machine\nNothing was sent. `,
      ),
    ])
    expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
  },
)

test('doctor fails for a store that was closed because its attempt log is missing; store check opens the store once the log is restored', async () => {
  const here = await doctorSession()
  await here.type(orderArguments('Priya'))
  const logs = join(here.folder, 'config', 'attempts')
  renameSync(logs, `${logs}.away`)
  expect((await here.type(orderArguments('Marcus'))).stderr).toContain(
    'is closed: the log of its attempts is missing',
  )
  renameSync(`${logs}.away`, logs)
  const { code, stdout } = await here.type('doctor')
  expect([code, stdout]).toMatchObject([
    1,
    expect.stringMatching(/^fail {2}store .* is closed: the log of its attempts is missing$/m),
  ])
  expect((await here.type(orderArguments('Marcus'))).code).toBe(1)
  expect(await here.type('store check')).toMatchInlineSnapshot(`
    $ refcheck store check
    2> The attempt log is there again with every attempt, so the store is open again.
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0
  `)
  expect((await here.type(orderArguments('Marcus'))).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(['priya@example.com', 'marcus@example.com'])
})
