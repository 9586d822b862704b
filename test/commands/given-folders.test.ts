import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { doctorSession } from '../harness/doctor-session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { orderArguments } from '../harness/people.ts'
import type { Session } from '../harness/session.ts'

recordForFaultTable('given-folder', {
  mustNotHappen: 'with a changed mode, or used although others may write to it',
})

const variables = ['REFCHECK_CONFIG_DIR', 'REFCHECK_DATA_DIR'] as const
/** Only root can change the owner of a folder. */
const isRoot = process.getuid?.() === 0

function createGivenFolder({ folder }: Session, mode: number): string {
  const path = join(folder, 'given')
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

const readMode = (path: string): number => statSync(path).mode & 0o7777

test('the mode of a folder that others may read is not changed, and the files written in it are private', async () => {
  const here = await doctorSession()
  const folder = createGivenFolder(here, 0o755)
  const env = { REFCHECK_CONFIG_DIR: folder, REFCHECK_DATA_DIR: folder }
  for (const line of [
    'config set package 102',
    'packages list',
    'batch list --quiet',
    orderArguments('Priya'),
  ])
    expect(await here.type(line, { env })).toMatchObject({
      code: 0,
      stderr: expect.not.stringMatching(/mode|private/) as string,
    })
  expect(readMode(folder)).toBe(0o755)
  const writtenFiles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name),
  )
  expect(writtenFiles).toContain(join(folder, 'config.json'))
  expect(writtenFiles).toContain(join(folder, 'ledger.sqlite'))
  const readableByOthers = writtenFiles.filter((path) => (statSync(path).mode & 0o077) !== 0)
  expect(readableByOthers).toEqual([])
  const { code, stdout } = await here.type('doctor', { env })
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^ok {4}privacy {7}no other user of this machine can read these files; they can list ".*\/given" \(0755\)$/m,
  )
})

/** Command lines that use the folder of a variable. */
const commandLines: Record<(typeof variables)[number], readonly string[]> = {
  REFCHECK_CONFIG_DIR: [
    'config list',
    'config set package 102',
    'packages list',
    'batch list',
    'schema show 102',
  ],
  REFCHECK_DATA_DIR: ['packages list', 'batch list', 'status', 'schema show 102', 'webhook events list'],
}

test.each(variables.flatMap((name) => ['0775', '0777', '1777'].map((mode) => [name, mode] as const)))(
  '%s that others may write to (%s) is refused, also by commands that only read, and the folder is not changed',
  async (name, octalMode) => {
    const mode = Number.parseInt(octalMode, 8)
    const here = await doctorSession()
    const folder = createGivenFolder(here, mode)
    const env = { [name]: folder }
    for (const line of [...commandLines[name], orderArguments('Priya')]) {
      const { code, stdout, stderr } = await here.type(line, { env })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(
        `Error: cannot use the folder "${folder}": other users of this machine may write to it (${octalMode})\n` +
          (mode === 0o1777
            ? 'Use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.\n'
            : `Use another folder, or take that permission away with: chmod go-w "${folder}"\n`),
      )
    }
    const doctor = await here.type('doctor', { env })
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/^fail {2}privacy {7}cannot use the folder ".*\/given": other users /m)
    expect([readMode(folder), readdirSync(folder)]).toEqual([mode, []])
    expect(here.listOrderedEmails()).toEqual([])
  },
)

test.each(isRoot ? variables : [])('%s of another account is refused and not changed', async (name) => {
  const here = await doctorSession()
  const folder = createGivenFolder(here, 0o755)
  chownSync(folder, 54_321, 54_321)
  const env = { [name]: folder }
  for (const line of [...commandLines[name], orderArguments('Priya')]) {
    const { code, stdout, stderr } = await here.type(line, { env })
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `Error: cannot use the folder "${folder}": it belongs to another user of this machine\n` +
        'Run refcheck as that user, or use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.\n',
    })
  }
  const doctor = await here.type('doctor', { env })
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/^fail {2}writing {7}.*belongs to another user/m)
  expect(doctor.stdout).toMatch(/^fail {2}privacy {7}.*belongs to another user/m)
  expect([readMode(folder), readdirSync(folder)]).toEqual([0o755, []])
  expect(here.listOrderedEmails()).toEqual([])
})

test('new folders and their new parents can be read only by this account', async () => {
  const here = await doctorSession()
  const folder = join(here.folder, 'new', 'below')
  expect(await here.type(orderArguments('Priya'), { env: { REFCHECK_DATA_DIR: folder } })).toMatchObject({
    code: 0,
  })
  expect([join(here.folder, 'new'), folder].map(readMode)).toEqual([0o700, 0o700])
})

test.each(variables)(
  'a relative %s is refused, because from another folder it would be another store',
  async (name) => {
    const here = await doctorSession()
    for (const line of ['batch list', 'config list', 'doctor', orderArguments('Priya')]) {
      const { code, stdout, stderr } = await here.type(line, { env: { [name]: 'data' } })
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr:
          `Error: ${name} is not an absolute path: "data"\n` +
          `Nothing was sent. Set it with: export ${name}=${join(here.folder, 'data')}\n`,
      })
    }
    expect(here.listOrderedEmails()).toEqual([])
  },
)

test.each(isRoot ? ['REFCHECK_STORE', ...variables] : [])(
  '%s below a folder of another account, which could rename it, is refused',
  async (name) => {
    const here = await doctorSession()
    const folder = createGivenFolder(here, 0o755)
    const ownFolder = join(folder, 'own')
    mkdirSync(ownFolder, { mode: 0o700 })
    chownSync(folder, 54_321, 54_321)
    const isStore = name === 'REFCHECK_STORE'
    const env = { [name]: isStore ? join(ownFolder, 'ledger.sqlite') : ownFolder }
    const shown = isStore ? `store "${join(ownFolder, 'ledger.sqlite')}"` : `folder "${ownFolder}"`
    for (const line of ['batch list', orderArguments('Priya')]) {
      const { code, stdout, stderr } = await here.type(line, { env })
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: '',
        stderr:
          `Error: cannot use the ${shown}: "${folder}", which contains it, belongs to another user of this machine\n` +
          (isStore
            ? 'Keep it below a folder of your own or of root: set REFCHECK_STORE.\n'
            : 'Use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.\n'),
      })
    }
    expect(readdirSync(ownFolder)).toEqual([])
    expect(here.listOrderedEmails()).toEqual([])
    // Below a folder of root it is used, also if that folder is sticky, as /tmp is.
    for (const mode of [0o1777, 0o755]) {
      chownSync(folder, 0, 0)
      chmodSync(folder, mode)
      expect((await here.type('batch list', { env })).code).toBe(0)
    }
  },
)
