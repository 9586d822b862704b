import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'

recordForFaultTable('planted', { mustNotHappen: 'believed' })

/** Ways in which a file is unsafe, each with a function that makes it unsafe, and with the message. */
const weaknesses: Record<string, { makeUnsafe: (file: string) => void; message: RegExp }> = {
  'others may write to': {
    makeUnsafe: (file) => chmodSync(file, 0o666),
    message:
      /^Error: cannot use the file ".*": other users of this machine may write to it \(0666\)\nCheck what is in it, then make it private with: chmod go= ".*"\n$/,
  },
  // Only root can change the owner of a file.
  ...(process.getuid?.() === 0 && {
    'another account owns': {
      makeUnsafe: (file: string) => chownSync(file, 54_321, 54_321),
      message:
        /^Error: cannot use the file ".*": it belongs to another user of this machine\nRun refcheck as that user, or move the file away\.\n$/,
    },
  }),
}

/** Files of refcheck, each with the commands that create it, a pattern of its path, and a command line that reads it. */
const files: Record<
  string,
  { create: (here: Session) => Promise<unknown>; path: RegExp; line: string | string[] }
> = {
  settings: {
    create: ({ type }) => type('config set package 102'),
    path: /^config\/config\.json$/,
    line: 'packages list',
  },
  mapping: {
    create: ({ type, write }) =>
      type([
        'batch',
        'validate',
        write('people.csv', 'First,last_name,email,phone\nPriya,Example,priya@example.com,+61412345678\n'),
        '--package',
        '102',
        '--map',
        'First=first_name',
        '--save-mapping',
        'own',
      ]),
    path: /^config\/mappings\/own\.json$/,
    line: 'batch validate people.csv --package 102 --mapping own',
  },
  'attempt log': {
    create: ({ type }) => type(orderArguments('Priya')),
    path: /^config\/attempts\/.*\.log$/,
    line: orderArguments('Marcus'),
  },
  manifest: {
    create: async ({ type, clock }) => {
      await type(orderArguments('Priya'))
      await clock.sleep(7_200_000)
      return type('report sync --output reports')
    },
    path: /^reports\/manifest\.json$/,
    line: 'report sync --output reports',
  },
}

const cases = Object.keys(files).flatMap((name) =>
  Object.keys(weaknesses).map((weakness) => [name, weakness] as const),
)

test.each(cases)('a %s that %s is not read, and nothing is sent', async (name, weakness) => {
  const here = await session()
  const { create, path, line } = files[name]!
  const { makeUnsafe, message } = weaknesses[weakness]!
  await create(here)
  const file = readdirSync(here.folder, { recursive: true, encoding: 'utf8' }).find((each) => path.test(each))
  if (file === undefined) throw new Error(`no ${name}`)
  const before = here.listCalls().length
  makeUnsafe(join(here.folder, file))
  const { uid, mode } = statSync(join(here.folder, file))
  const { code, stdout, stderr } = await here.type(line)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  const isMissing = name === 'attempt log' && weakness === 'another account owns'
  expect(stderr).toMatch(
    isMissing ? /^Error: the store ".*" is closed: the log of its attempts is missing\n/ : message,
  )
  expect(
    here
      .listCalls()
      .slice(before)
      .filter((call) => call.startsWith('POST')),
  ).toEqual([])
  expect(statSync(join(here.folder, file))).toMatchObject({ uid, mode })
})

test.each(Object.keys(weaknesses))(
  'a cached schema that %s is not used, and is read again',
  async (weakness) => {
    const here = await session()
    const first = await here.type('schema show 102')
    const folder = join(here.folder, 'data', 'schemas')
    for (const name of readdirSync(folder)) weaknesses[weakness]?.makeUnsafe(join(folder, name))
    expect((await here.type('schema show 102')).stdout).toBe(first.stdout)
    expect(here.listCalls().filter((call) => call.includes('schema'))).toHaveLength(2)
    await here.type('schema show 102')
    expect(here.listCalls().filter((call) => call.includes('schema'))).toHaveLength(2)
  },
)

test('symbolic links at the paths of the folders for schemas and written paths are not followed', async () => {
  const { type, folder, write } = await session()
  await type('store info')
  for (const name of ['schemas', 'written']) {
    mkdirSync(join(folder, 'elsewhere', name), { recursive: true, mode: 0o700 })
    symlinkSync(join(folder, 'elsewhere', name), join(folder, 'data', name))
  }
  write('people.csv', 'first_name,last_name,email,phone\nPriya,Example,priya@example.com,+61412345678\n')
  expect((await type('batch plan people.csv --package 102 --output plan.json')).stderr).toContain(
    `/data/written": it is a symbolic link`,
  )
  expect(readdirSync(join(folder, 'elsewhere'), { recursive: true })).toEqual(['schemas', 'written'])
})
