import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

// Every document that a test gets with --json is compared with its schema (test/harness/described-output.ts). These
// are the commands whose other tests read only the text output.

test('commands for profiles and settings print JSON as described', async () => {
  const { type, url, sandbox } = await session({ isLoggedOut: true })
  const login = [
    'auth',
    'login',
    '--base-url',
    url,
    '--email',
    'olive.owner@example.com',
    '--with-key',
    '--json',
  ]
  expect(await type(login, { stdin: sandbox.credentials.apiKey })).toMatchObject({ code: 0 })
  for (const line of [
    'auth list --json',
    'auth switch default --json',
    'config set package 102 --json',
    'config get package --json',
    'config unset package --json',
    'auth logout --json',
  ]) {
    expect(await type(line)).toMatchObject({ code: 0 })
  }
})

test('commands that change a batch print JSON as described', async () => {
  const here = await session()
  const header = 'first_name,last_name,email,phone'
  const mei = 'Mei,Tanaka,mei@example.com,+819012345678'
  here.write('one.csv', `${header}\n${mei}\n`)
  here.write(
    'two.csv',
    `${header}\n${mei.replace('Tanaka', 'Tanaga')}\nAna,Costa,ana@example.com,+351912000003\n`,
  )
  expect(await here.type('batch plan one.csv --package 102 --json')).toMatchObject({ code: 0 })
  expect(await here.type('batch run one.csv --package 102 --yes --json')).toMatchObject({ code: 0 })
  const run = await here.type('batch run two.csv --package 102 --yes --json')
  const { batch_id: id } = run.json() as { batch_id: string }
  expect(run.code).toBe(10)
  expect(await here.type(`batch release ${id} --row 1 --json`)).toMatchObject({ code: 0 })
  expect(await here.type(`batch retry ${id} --json`)).toMatchObject({ code: 0 })
  expect(await here.type(`batch export ${id} --json`)).toMatchObject({ code: 0 })
  expect(await here.type('store backup copy.sqlite --json')).toMatchObject({ code: 0 })
})

test('commands that control a sandbox print JSON as described', async () => {
  const { type, url } = await session()
  const controlSandbox = (line: string) => type(`sandbox ${line} --base-url ${url} --json`)
  expect(await controlSandbox('inject declined')).toMatchObject({ code: 0 })
  expect(await controlSandbox('inject --clear')).toMatchObject({ code: 0 })
  expect(await controlSandbox('reset')).toMatchObject({ code: 0 })
  expect(await type('sandbox scenarios --json')).toMatchObject({ code: 0 })
  expect(await type('sandbox openapi --json')).toMatchObject({ code: 0 })
})

test('a missing receiver and a missing event are reported in JSON as described', async () => {
  const { type } = await session()
  const checked = await type('webhook check-receiver http://127.0.0.1:9/ --json')
  expect(checked.code).not.toBe(0)
  expect(await type('webhook events replay 1 --json')).toMatchObject({ code: 5 })
})
