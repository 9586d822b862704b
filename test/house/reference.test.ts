import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { outputSchemas } from '../../src/compose/reference.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { root } from './sources.ts'

const docs = join(root, 'src', 'reference')
// The first two are written by: npm run manifest

test('src/reference/reference.md is what refcheck reference prints', async () => {
  const { code, stdout } = await refcheck(['reference'], { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(0)
  expect(readFileSync(join(docs, 'reference.md'), 'utf8') === stdout).toBe(true)
})

test('src/reference/schemas is what --json prints, command by command: keys are added, never removed', async () => {
  const schemas = await outputSchemas()
  const files = Object.entries(schemas).map(([command, schema]) => ({
    name: `${command.replaceAll(' ', '-')}.json`,
    text: `${JSON.stringify(schema, null, 2)}\n`,
  }))
  expect(readdirSync(join(docs, 'schemas')).sort()).toEqual(files.map(({ name }) => name).sort())
  const stale = files.filter(({ name, text }) => readFileSync(join(docs, 'schemas', name), 'utf8') !== text)
  expect(stale.map(({ name }) => name)).toEqual([])
})

test('the integrators’ page shows its samples as they are run', () => {
  const page = readFileSync(join(docs, 'integrators.md'), 'utf8')
  const shown = [...page.matchAll(/\[`[^`]+`\]\((\S+)\):\n\n```\w+\n(.*?\n)```\n/gs)]
  const changed = shown.filter(([, path = '', text]) => readFileSync(join(docs, path), 'utf8') !== text)
  expect(changed.map(([, path]) => path)).toEqual([])
  const samples = ['receivers', 'pipelines'].flatMap((folder) =>
    readdirSync(join(docs, folder)).map((name) => `${folder}/${name}`),
  )
  expect(shown.map(([, path]) => path)).toEqual(expect.arrayContaining(samples))
})
