import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openMappings } from '../../../src/store/config/mappings.ts'
import { temporaryFolder } from '../../harness/world.ts'

function setUp() {
  const config = join(temporaryFolder(), 'config')
  return { folder: join(config, 'mappings'), mappings: openMappings({ config, data: config }) }
}
const mapping = { map: { first_name: 'Given' }, ignore: ['Notes'], reading: {} }

test('a mapping is stored under its name, which is case-insensitive', async () => {
  const { folder, mappings } = setUp()
  expect(await mappings.get('workday')).toBeUndefined()
  await mappings.put('Workday', mapping)
  expect(JSON.parse(readFileSync(join(folder, 'workday.json'), 'utf8'))).toEqual(mapping)
  expect(await mappings.get('WORKDAY')).toMatchObject({ map: { first_name: 'Given' }, ignore: ['Notes'] })
})

test.each(['', '../x', 'a b', '-x', 'x'.repeat(65)])(
  '%j is refused as the name of a mapping',
  async (name) => {
    await expect(setUp().mappings.get(name)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is not a valid name for a mapping') as string,
    })
  },
)

test('an API key is refused as a name, because the file name would contain it', async () => {
  const name = 'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra'
  const refusal = { code: 'invalid_input', message: 'what looks like an API key is not a name for a mapping' }
  await expect(setUp().mappings.get(name)).rejects.toMatchObject(refusal)
})

test.each(['{', '{}', '{"ignore":[1]}', '{"ignore":[],"map":{"first_name":7}}', 'null'])(
  'the error for a damaged mapping has a hint to save it again: %s',
  async (text) => {
    const { folder, mappings } = setUp()
    await mappings.put('workday', mapping)
    writeFileSync(join(folder, 'workday.json'), text)
    await expect(mappings.get('workday')).rejects.toMatchObject({
      code: 'io',
      message: 'the mapping "workday" is damaged',
      hint: 'Save it again with: --save-mapping workday',
    })
  },
)

test('a mapping without columns is valid', async () => {
  const { folder, mappings } = setUp()
  await mappings.put('workday', mapping)
  writeFileSync(join(folder, 'workday.json'), '{"ignore":["Notes"]}')
  expect(await mappings.get('workday')).toMatchObject({ map: {}, ignore: ['Notes'] })
})
