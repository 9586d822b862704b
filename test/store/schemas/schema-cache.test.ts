import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { packageSchema } from '../../../src/contract/package-schema.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { openSchemaCache, type SchemaCache, type SchemaKey } from '../../../src/store/schemas/schema-cache.ts'

let folder: string
let data: string
let cache: SchemaCache
let messages: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-schemas-'))
  data = join(folder, 'data')
  messages = []
  cache = openSchemaCache({
    paths: { config: folder, data },
    random,
    onMessage: (text) => messages.push(text),
  })
})
afterEach(() => rmSync(folder, { recursive: true }))

const key: SchemaKey = { baseUrl: 'https://api.example.com', userEmail: 'ana@example.com', packageId: 12 }
const textField = { type: 'string', required: true }
const schema = packageSchema.parse({
  id: 12,
  fields: {
    recipient: {
      first_name: textField,
      last_name: textField,
      email: textField,
      phone: { ...textField, required: false },
    },
    additional_information: [
      {
        display_name: 'Licence',
        code: 'licence',
        fields: JSON.parse('{"__proto__":{"type":"string","required":true,"description":"odd"}}'),
      },
    ],
  },
  added_later: true,
})

/** Returns the path of the only file in the cache. */
function findCacheFile(): string {
  const [name] = readdirSync(join(data, 'schemas'))
  return join(data, 'schemas', name ?? '')
}

test('get returns every field of the schema that was put, until the schema is discarded', async () => {
  expect(await cache.get(key)).toBeUndefined()
  expect(existsSync(data)).toBe(false)
  await cache.put(key, schema)
  const found = await cache.get(key)
  expect(found).toEqual(schema)
  expect(Object.keys(found?.fields.additional_information[0]?.fields ?? {})).toEqual(['__proto__'])
  await cache.remove(key)
  await cache.remove(key)
  expect(await cache.get(key)).toBeUndefined()
})

test('a later schema replaces the earlier one', async () => {
  await cache.put(key, schema)
  await cache.put(key, { ...schema, added_later: false })
  expect(await cache.get(key)).toEqual({ ...schema, added_later: false })
  expect(readdirSync(join(data, 'schemas'))).toHaveLength(1)
})

test('a schema is returned for another spelling of the user, and not for another service, user or package', async () => {
  await cache.put(key, schema)
  expect(await cache.get({ ...key, baseUrl: 'https://eu.example.com' })).toBeUndefined()
  expect(await cache.get({ ...key, userEmail: 'bo@example.com' })).toBeUndefined()
  expect(await cache.get({ ...key, packageId: 13 })).toBeUndefined()
  expect(await cache.get({ ...key, userEmail: 'Ana@Example.com' })).toEqual(schema)
})

test('files are private, and looser permissions are corrected with a warning; new folders are private, and an existing one keeps its mode', async () => {
  mkdirSync(data)
  chmodSync(data, 0o755)
  await cache.put(key, schema)
  const modes = [data, join(data, 'schemas'), findCacheFile()].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o755, 0o700, 0o600])
  chmodSync(findCacheFile(), 0o644)
  expect(await cache.get(key)).toEqual(schema)
  expect(messages).toEqual([
    `The file "${findCacheFile()}" was readable by other users (0644); it is now private (0600).`,
  ])
})

test.each([
  ['empty', () => ''],
  ['cut short', (whole: string) => whole.slice(0, -20)],
  ['another shape', () => '[]'],
  ['a wrong type within', (whole: string) => whole.replace('"required":true', '"required":"yes"')],
  ['the key of another package', (whole: string) => whole.replaceAll('12', '13')],
  ['a schema with another id', (whole: string) => whole.replace('"id":12', '"id":13')],
  ['the key of another user', (whole: string) => whole.replace('ana@', 'bo@')],
])('a damaged file (%s) is a miss, and the next put replaces it', async (_name, damage) => {
  await cache.put(key, schema)
  writeFileSync(findCacheFile(), damage(readFileSync(findCacheFile(), 'utf8')))
  expect(await cache.get(key)).toBeUndefined()
  await cache.put(key, schema)
  expect(await cache.get(key)).toEqual(schema)
})

test('a file that was moved to the path of another key is a miss there', async () => {
  await cache.put(key, schema)
  const first = findCacheFile()
  await cache.put({ ...key, userEmail: 'bo@example.com' }, schema)
  const names = readdirSync(join(data, 'schemas')).map((name) => join(data, 'schemas', name))
  renameSync(first, names.find((name) => name !== first) ?? '')
  expect(await cache.get({ ...key, userEmail: 'bo@example.com' })).toBeUndefined()
})

test('a symbolic link is a miss, and put refuses to write to its target', async () => {
  await cache.put(key, schema)
  const path = findCacheFile()
  const target = join(folder, 'outside')
  renameSync(path, target)
  const before = readFileSync(target, 'utf8')
  symlinkSync(target, path)
  expect(await cache.get(key)).toBeUndefined()
  await expect(cache.put(key, { ...schema, added_later: false })).rejects.toThrow(/symbolic link/)
  expect(readFileSync(target, 'utf8')).toBe(before)
})

test('if the data folder cannot be created, put throws IoError and get returns a miss', async () => {
  writeFileSync(data, '')
  await expect(cache.put(key, schema)).rejects.toMatchObject({ code: 'io' })
  expect(await cache.get(key)).toBeUndefined()
})
