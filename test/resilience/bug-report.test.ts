import { readFileSync, statSync } from 'node:fs'
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { doctorSession } from '../harness/doctor-session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

const faultRow = recordForFaultTable('report', { mustNotHappen: 'canaries found' })

test('a bug report contains versions, counts and results, but no name of a person, account, file, host or service', async () => {
  const here = await doctorSession()
  const { apiKey, userEmail, webhookSecret } = here.sandbox.credentials
  here.write('zelda.csv', 'first_name,last_name,email,phone\nZelda,Quux,zelda@example.com,+61412345678\n')
  await here.type('config set account Quuxcorp')
  await here.type('batch run zelda.csv --package 102 --yes')
  const env = { HTTPS_PROXY: 'http://gate:pass-canary@127.0.0.1:9', REFCHECK_PROFILE: '' }
  const { stderr, code } = await here.type('doctor --report report.json', { env })
  expect({ stderr, code }).toMatchObject({
    stderr: 'Wrote report.json. Read it before you send it.\n',
    code: 0,
  })
  const text = here.read('report.json')
  expect(JSON.parse(text)).toMatchObject({
    refcheck_bug_report: 1,
    environment: expect.arrayContaining(['REFCHECK_API_KEY', 'HTTPS_PROXY']) as string[],
    settings: ['account'],
    profiles: 0,
    failure: null,
    store: { batches: 1, rows: { accepted: 1 }, takes_orders: true },
  })
  const canaries = {
    key: apiKey,
    'end of the key': apiKey.slice(-4),
    user: userEmail,
    secret: webhookSecret,
    person: 'zelda',
    surname: 'quux',
    phone: '412345678',
    password: 'pass-canary',
    proxy: 'gate',
    service: new URL(here.url).port,
    folder: here.folder,
    temporary: tmpdir(),
    home: homedir(),
    account: `"${userInfo().username}"`,
    machine: hostname(),
    request: here.sandbox.requests()[0]?.request_id ?? '',
  }
  const found = Object.entries(canaries).filter(([, canary]) =>
    text.toLowerCase().includes(canary.toLowerCase()),
  )
  const count = Object.keys(canaries).length
  faultRow.countCases(count, count - found.length)
  expect(found.map(([what]) => what)).toEqual([])
  expect(statSync(join(here.folder, 'report.json')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(here.folder, 'report.json')).length).toBeLessThan(4000)
  expect(await here.type('doctor --report report.json', { env })).toMatchInlineSnapshot(`
    $ HTTPS_PROXY=http://gate:pass-canary@127.0.0.1:9 REFCHECK_PROFILE='' refcheck doctor --report report.json
    2> Error: --report: report.json already exists
    2> Choose another name, or remove it first.
    exit 2
  `)
})
