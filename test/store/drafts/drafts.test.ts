import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { StoredDraft } from '../../../src/domain/form/stored-draft.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { openDrafts } from '../../../src/store/drafts/drafts.ts'
import { temporaryFolder } from '../../harness/world.ts'

function setUp() {
  const data = join(temporaryFolder(), 'data')
  const messages: string[] = []
  const drafts = openDrafts({
    paths: { config: data, data },
    random,
    onMessage: (text) => messages.push(text),
  })
  return { data, folder: join(data, 'drafts'), drafts, messages }
}

const draftOf = (id: string): StoredDraft => ({
  refcheck_draft: 1,
  id,
  saved_at: '2026-11-20T12:00:00.000Z',
  base_url: 'https://api.example.com',
  user_email: 'o@example.com',
  account: '',
  package_name: 'Standard',
  body: { package_id: 7, recipient: { first_name: 'Priya' } },
})
const [one, two] = ['0'.repeat(16), '1'.repeat(16)]

test('drafts are private, are read back in order, and can be removed', async () => {
  const { folder, drafts } = setUp()
  expect([await drafts.list(), await drafts.listUnreadable()]).toEqual([[], []])
  await drafts.save(draftOf(two))
  await drafts.save(draftOf(one))
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, `${one}.json`)).mode & 0o777).toBe(0o600)
  expect(await drafts.list()).toEqual([draftOf(one), draftOf(two)])
  await drafts.remove(one)
  await drafts.remove(one)
  expect(readdirSync(folder)).toEqual([`${two}.json`])
})

test('a file that is not a draft is reported, and files with other names are not changed', async () => {
  const { folder, drafts } = setUp()
  await drafts.save(draftOf(one))
  writeFileSync(join(folder, `${two}.json`), JSON.stringify(draftOf(one)), { mode: 0o600 })
  writeFileSync(join(folder, `${'2'.repeat(16)}.json`), '{', { mode: 0o600 })
  symlinkSync(join(folder, `${one}.json`), join(folder, `${'3'.repeat(16)}.json`))
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  expect(await drafts.list()).toEqual([draftOf(one)])
  expect(await drafts.listUnreadable()).toEqual([two, '2'.repeat(16), '3'.repeat(16)])
})

test('looser permissions are corrected with a warning', async () => {
  const { folder, drafts, messages } = setUp()
  await drafts.save(draftOf(one))
  chmodSync(join(folder, `${one}.json`), 0o644)
  expect(await drafts.list()).toEqual([draftOf(one)])
  expect(messages.join()).toContain('was readable by other users (0644); it is now private')
})

test('a path that cannot be used throws IoError', async () => {
  const { data, folder, drafts } = setUp()
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(folder, '')
  await expect(drafts.list()).rejects.toMatchObject({ code: 'io' })
  await expect(drafts.remove(one)).rejects.toMatchObject({ code: 'io' })
})
