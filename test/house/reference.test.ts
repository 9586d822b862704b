import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { listJsonKeys } from '../../src/build/json-keys.ts'
import { outputSchemas } from '../../src/app/reference.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { root } from './sources.ts'

const docs = join(root, 'src', 'reference')

test('the reference that is shipped is what refcheck reference prints', async () => {
  const { code, stdout } = await refcheck(['reference'], { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(0)
  expect(readFileSync(join(root, 'dist/reference/reference.md'), 'utf8') === stdout).toBe(true)
})

test('the JSON Schemas that are shipped are what refcheck reference --output-schema prints', async () => {
  const schemas = await outputSchemas()
  const shipped = readdirSync(join(root, 'dist/reference/schemas')).map((name) => [
    name,
    JSON.parse(readFileSync(join(root, 'dist/reference/schemas', name), 'utf8')) as object,
  ])
  const expected = Object.entries(schemas).map(([command, schema]) => [
    `${command.replaceAll(' ', '-')}.json`,
    JSON.parse(JSON.stringify(schema)) as object,
  ])
  expect(Object.fromEntries(shipped)).toEqual(Object.fromEntries(expected))
})

// The line of a key that was never released may be removed from the file by hand.
test('no key of the --json output is removed or gets another type; npm run manifest lists new keys', async () => {
  const listed = readFileSync(join(root, 'test/house/json-keys.txt'), 'utf8').trimEnd().split('\n')
  const printed = listJsonKeys(await outputSchemas())
  const [listedKeys, printedKeys] = [new Set(listed), new Set(printed)]
  expect({
    removedOrChanged: listed.filter((line) => !printedKeys.has(line)),
    notListed: printed.filter((line) => !listedKeys.has(line)),
  }).toEqual({ removedOrChanged: [], notListed: [] })
})

test('the page for integrators shows its samples exactly as their files', () => {
  const page = readFileSync(join(docs, 'integrators.md'), 'utf8')
  const samplesOnPage = [...page.matchAll(/\[`[^`]+`\]\((\S+)\):\n\n```\w+\n(.*?\n)```\n/gs)]
  const changed = samplesOnPage.filter(
    ([, path = '', text]) => readFileSync(join(docs, path), 'utf8') !== text,
  )
  expect(changed.map(([, path]) => path)).toEqual([])
  const samples = ['receivers', 'tests', 'pipelines'].flatMap((folder) =>
    readdirSync(join(docs, folder)).map((name) => `${folder}/${name}`),
  )
  expect(samplesOnPage.map(([, path]) => path)).toEqual(expect.arrayContaining(samples))
})
