import { describe, expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import { changeStore } from '../harness/change-store.ts'
import type { Filter } from '../harness/filters.ts'
import { session } from '../harness/session.ts'

const location: Filter = [/(?<=")(?:postgres:[^"]+|[^"]*ledger\.sqlite)(?=")/g, 'STORE']

describe.each(['SQLite', 'PostgreSQL'] as const)(
  'a %s store without the row of its fingerprint key',
  (store) => {
    test('is refused with a message, and orders no person with a new key', async () => {
      const here = await session({ store, filters: [location] })
      writePeopleFile(here.folder, ['a1@example.com'])
      expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
      await changeStore(here, store, `DELETE FROM meta WHERE name = 'fingerprint_key'`)
      writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
      expect(await here.all(['batch run people.csv --package 102 --yes', 'store check']))
        .toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2> Error: the store "STORE" is damaged: the key of its fingerprints is missing
      2> Nothing was sent. Restore a backup of the store.
      exit 1

      $ refcheck store check
      2> Error: the store "STORE" is damaged: the key of its fingerprints is missing
      2> Nothing was sent. Restore a backup of the store.
      exit 1
    `)
      expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
    })
  },
)
