import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { answerWithList, packageJson } from '../harness/faults/large-lists.ts'
import { session } from '../harness/session.ts'
import { world } from '../harness/world.ts'

recordForFaultTable('answer-limits', { mustNotHappen: 'read' })

test('an answer with more than 250,000 values is refused before it is parsed', async () => {
  const { type, intercept } = await session()
  intercept(answerWithList('packages', 50_000, packageJson))
  expect(await type('packages list')).toMatchInlineSnapshot(`
    $ refcheck packages list
    2> Error: the answer holds more than 250000 values, the limit
    2> Check the base URL: something other than the service may have answered.
    exit 7
  `)
  expect(await type('api GET /v1/packages')).toMatchInlineSnapshot(`
    $ refcheck api GET /v1/packages
    2> Error: the answer holds more than 250000 values, the limit
    2> Check the base URL: something other than the service may have answered.
    exit 7
  `)
  intercept(answerWithList('packages', 250_000, packageJson))
  expect(await type('packages list --json')).toMatchInlineSnapshot(`
    $ refcheck packages list --json
    {
      "error": {
        "code": "unavailable",
        "message": "127.0.0.1:PORT: the answer is larger than 16777216 bytes, the limit",
        "hint": "Check the base URL: the service’s answers are smaller."
      }
    }
    2> Error: 127.0.0.1:PORT: the answer is larger than 16777216 bytes, the limit
    exit 7
  `)
})

test('a list of 25,000 packages is read', async () => {
  const { run, intercept } = await world()
  intercept(answerWithList('packages', 25_000, packageJson))
  const { code, stdout } = await run(['packages', 'list', '--csv', '--columns', 'id'])
  expect({ code, lines: stdout.trimEnd().split('\n').length }).toEqual({ code: 0, lines: 25_001 })
})

test('the error for a long list names only the first invalid item', async () => {
  const { type, intercept } = await session()
  intercept(answerWithList('packages', 100_000, (at) => (at < 1500 ? packageJson(at) : '{}')))
  expect(await type('packages list')).toMatchInlineSnapshot(`
    $ refcheck packages list
    2> Error: the service’s answer does not have the documented shape: data.packages.1500.id: is missing; it must be a number
    2> Check the base URL: something other than the service may have answered, or a newer version of it.
    exit 7
  `)
})

test('a nested list with 120,000 invalid items does not crash the program', async () => {
  const { type, intercept } = await session()
  const checks = Array.from({ length: 120_000 }, () => '{}').join(',')
  intercept(answerWithList('packages', 1, () => packageJson(0).replace('[]', `[${checks}]`)))
  expect(await type('packages list')).toMatchInlineSnapshot(`
    $ refcheck packages list
    2> Error: the service’s answer does not have the documented shape: data: is not valid
    2> Check the base URL: something other than the service may have answered, or a newer version of it.
    exit 7
  `)
})
