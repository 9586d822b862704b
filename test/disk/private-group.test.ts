import { expect, test } from 'vitest'

import { isGroupOfAccountAlone, isPrivateGroup } from '../../src/disk/private-group.ts'

const accounts = ['root:x:0:0::/root:/bin/sh', 'mei:x:1000:1000::/home/mei:/bin/sh', 'bo:x:1001:100:::', '']

test.each<[string, { uid: number; gid: number }, string[], boolean]>([
  [
    'a group with the name and the number of the account is private',
    { uid: 1000, gid: 1000 },
    ['root:x:0:', 'mei:x:1000:'],
    true,
  ],
  [
    'a group whose only listed member is the account is private',
    { uid: 1000, gid: 1000 },
    ['mei:x:1000:mei'],
    true,
  ],
  [
    'a group with the name of the account and another number is private',
    { uid: 1000, gid: 1002 },
    ['mei:x:1002:'],
    true,
  ],
  ['a group with another member is not private', { uid: 1000, gid: 1000 }, ['mei:x:1000:mei,bo'], false],
  [
    'a group that is the first group of another account is not private',
    { uid: 1000, gid: 100 },
    ['users:x:100:'],
    false,
  ],
  ['a group with another name is not private', { uid: 1000, gid: 50 }, ['staff:x:50:'], false],
  [
    'the group with the number of an account that is in no file is private',
    { uid: 5000, gid: 5000 },
    [],
    true,
  ],
  ['another group of an account that is in no file is not private', { uid: 5000, gid: 20 }, [], false],
])('%s', (_, account, groups, isPrivate) => {
  expect(isGroupOfAccountAlone(account, accounts, groups)).toBe(isPrivate)
})

test('the group of root is private, and a group of another account is not', () => {
  expect(isPrivateGroup(0)).toBe(true)
  expect(isPrivateGroup(65_534)).toBe(false)
})
