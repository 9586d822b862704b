import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import type { Filter } from '../harness/filters.ts'
import { queryDatabase } from '../harness/postgres.ts'
import { session } from '../harness/session.ts'

const location: Filter = [/(?<=")(?:postgres:[^"]+|[^"]*ledger\.sqlite)(?=")/g, 'STORE']

describe.each(['SQLite', 'PostgreSQL'] as const)(
  'a %s store without the row of its fingerprint key',
  (store) => {
    test('is refused with a message, and orders no person with a new key', async () => {
      const here = await session({ store, filters: [location] })
      writePeopleFile(here.folder, ['a1@example.com'])
      expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
      const remove = `DELETE FROM meta WHERE name = 'fingerprint_key'`
      if (store === 'PostgreSQL') {
        await queryDatabase(here.env['REFCHECK_STORE'] ?? '', `SET search_path = refcheck; ${remove}`)
      } else {
        const database = new DatabaseSync(join(here.folder, 'data', 'ledger.sqlite'))
        database.exec(remove)
        database.close()
      }
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
