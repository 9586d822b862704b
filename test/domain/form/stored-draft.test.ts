import { expect, test } from 'vitest'

import {
  draftTitle,
  isDraftSelected,
  type StoredDraft,
  selectDrafts,
  parseDraft,
} from '../../../src/domain/form/stored-draft.ts'

const draftOf = (changes: Partial<StoredDraft> = {}): StoredDraft => ({
  refcheck_draft: 1,
  id: '0123456789abcdef',
  saved_at: '2026-11-20T12:00:00.000Z',
  base_url: 'https://api.example.com',
  user_email: 'ana@example.com',
  account: '',
  package_name: 'Identity check',
  body: { package_id: 102, recipient: { first_name: 'Zoë', email: 'zoe@example.com' } },
  ...changes,
})

test('a stored draft is read back unchanged; any other text is undefined', () => {
  const draft = draftOf()
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft)
  const others = ['', '{}', 'null', JSON.stringify({ ...draft, id: '../x' })]
  expect(others.map(parseDraft)).toEqual([undefined, undefined, undefined, undefined])
})

test('only drafts of the same service, user, account and package are offered, the newest first', () => {
  const owner = { baseUrl: 'https://api.example.com', userEmail: 'ANA@example.com', account: '' }
  const newer = draftOf({
    id: '1',
    saved_at: '2026-11-21T12:00:00.000Z',
    body: { package_id: 7, recipient: {} },
  })
  const all = [
    draftOf(),
    newer,
    draftOf({ id: '2', base_url: 'https://other.example.com' }),
    draftOf({ id: '3', user_email: 'ben@example.com' }),
    draftOf({ id: '4', account: 'acme' }),
  ]
  expect(selectDrafts(all, owner, undefined).map(({ id }) => id)).toEqual(['1', '0123456789abcdef'])
  expect(selectDrafts(all, owner, 102).map(({ id }) => id)).toEqual(['0123456789abcdef'])
})

test('the title of a draft contains the person, the package, the number of answers and the date', () => {
  expect(draftTitle(draftOf())).toMatch(/^Zoë, 102 Identity check, 2 answers, 2026-11-2/)
  const unnamed = draftOf({
    body: {
      package_id: 102,
      recipient: {},
      additional_information: [{ code: 'a', fields: { b: 1 } }],
    },
  })
  expect(draftTitle(unnamed)).toMatch(/^Nobody named yet, 102 Identity check, 1 answer, /)
})

test('a purge selects a draft by the e-mail or by the time of saving', () => {
  const draft = draftOf()
  const savedAt = Date.parse(draft.saved_at)
  expect([
    isDraftSelected(draft, { email: 'ZOE@example.com' }),
    isDraftSelected(draft, { email: 'ann@example.com' }),
    isDraftSelected(draft, { savedBefore: savedAt }),
    isDraftSelected(draft, { savedBefore: savedAt + 1 }),
  ]).toEqual([true, false, false, true])
})
