import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { world } from '../harness/world.ts'

test.each(['x', '0', '-1', '1e3', '1.5', ''])(
  'webhook events show and replay: %j is no id: exit 2, and what an id is',
  async (id) => {
    const place = await world()
    for (const verb of ['show', 'replay']) {
      const { code, stderr } = await place.run(['webhook', 'events', verb, '--', id])
      expect([code, stderr]).toEqual([
        2,
        `Error: ID: "${id}" is not the id of an event\nIt is a whole number; "refcheck webhook events list" shows them.\n`,
      ])
    }
  },
)

test('webhook events list: a file that is there already is not exported over, and the flag is named', async () => {
  const place = await world()
  writeFileSync(join(place.folder, 'mine'), 'mine')
  const { code, stderr } = await place.run([
    'webhook',
    'events',
    'list',
    '--export',
    join(place.folder, 'mine'),
  ])
  expect([code, stderr]).toMatchObject([
    2,
    expect.stringMatching(
      /^Error: --export: .* exists already\nChoose another name, or remove it first\.\n$/,
    ),
  ])
  expect(readFileSync(join(place.folder, 'mine'), 'utf8')).toBe('mine')
})
