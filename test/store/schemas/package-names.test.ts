import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { packageResource } from '../../../src/contract/package.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { openPackageNames } from '../../../src/store/schemas/package-names.ts'
import { temporaryFolder } from '../../harness/world.ts'

const createPackage = (id: number, name: string) =>
  packageResource.parse({
    id,
    name,
    status: 'ACTIVE',
    details: { reference_survey: null, background_checks: [] },
  })
const key = { baseUrl: 'https://api.example.com', userEmail: 'ana@example.com' }

test('names are stored in private files by service and user; storing some packages does not remove the names of others', async () => {
  const data = join(temporaryFolder(), 'data')
  const names = openPackageNames({ paths: { config: data, data }, random })
  expect(await names.get(key)).toEqual(new Map())
  await names.put(key, [createPackage(1, 'One'), createPackage(2, 'Two')])
  await names.put({ ...key, userEmail: 'ANA@example.com' }, [createPackage(2, 'Second')])
  expect([...(await names.get(key))]).toEqual([
    [1, 'One'],
    [2, 'Second'],
  ])
  expect(await names.get({ ...key, baseUrl: 'https://other.example.com' })).toEqual(new Map())
  const folder = join(data, 'schemas')
  const [file = ''] = readdirSync(folder)
  const before = statSync(join(folder, file))
  expect(before.mode & 0o777).toBe(0o600)
  await names.put(key, [createPackage(1, 'One')])
  expect(statSync(join(folder, file)).ino).toBe(before.ino)
  for (const text of [
    '{',
    'null',
    '{"names":[]}',
    JSON.stringify({ base_url: '', user_email: '', names: [['x']] }),
  ]) {
    writeFileSync(join(folder, file), text)
    expect(await names.get(key)).toEqual(new Map())
  }
})

test('a disk on which names cannot be stored causes no error', async () => {
  const data = join(temporaryFolder(), 'data')
  mkdirSync(data)
  writeFileSync(join(data, 'schemas'), 'a file where the folder should be')
  const names = openPackageNames({ paths: { config: data, data }, random })
  await names.put(key, [createPackage(1, 'One')])
  expect(await names.get(key)).toEqual(new Map())
  expect(existsSync(join(data, 'schemas'))).toBe(true)
})
