import { expect, test } from 'vitest'

import { world } from '../harness/world.ts'

test('schema show', async () => {
  const { run } = await world()
  const { code, stdout } = await run(['schema', 'show', '102'])
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "Recipient
    FIELD         TYPE    REQUIRED  DESCRIPTION
    --first-name  string  required  -
    --last-name   string  required  -
    --email       string  required  -
    --phone       string  required  E.164: + and country code, at most 15 digits

    No further information is needed.
    "
  `)
})

test('a table and a flag for each check', async () => {
  const { run } = await world()
  const { stdout } = await run(['schema', 'show', '101'])
  expect(stdout).toContain('National police check (ncc_acic)')
  expect(stdout).toContain('--field ncc_acic.date_of_birth')
})

test('the second time it is read from this machine, and --refresh reads it again', async () => {
  const { run, sandbox } = await world()
  const calls = (): number => sandbox.log.entries().length
  expect((await run(['schema', 'show', '101', '--json'])).code).toBe(0)
  expect(calls()).toBe(1)
  const again = await run(['schema', 'show', '101', '--json'])
  expect(calls()).toBe(1)
  expect(again.json()).toMatchObject({
    id: 101,
    fields: { recipient: { phone: { type: 'string', required: true } } },
  })
  await run(['schema', 'show', '101', '--refresh'])
  expect(calls()).toBe(2)
})

test('--json-schema is a JSON Schema 2020-12', async () => {
  const { run } = await world()
  const outcome = await run(['schema', 'show', '101', '--json-schema'])
  expect(outcome.json()).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    additionalProperties: false,
  })
})

test('a package that is not there', async () => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(['schema', 'show', '999'])
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
  expect(stderr).toMatchInlineSnapshot(`
    "Error: there is no package 999 for this user
    "refcheck packages list" shows the packages that this user may see.
    "
  `)
})

test.each(['abc', '1.5', '-1', '1e3'])('PACKAGE_ID %s is refused and nothing is called', async (id) => {
  const { run, sandbox } = await world()
  const { code, stderr } = await run(['schema', 'show', '--', id])
  expect(code).toBe(2)
  expect(stderr).toContain(`PACKAGE_ID: "${id}" is not a package id`)
  expect(sandbox.log.entries()).toEqual([])
})
