import { expect, test } from 'vitest'

import { isGroupOfAccountAlone, isPrivateGroup } from '../../src/disk/private-group.ts'

const accounts = ['root:x:0:0::/root:/bin/sh', 'mei:x:1000:1000::/home/mei:/bin/sh', 'bo:x:1001:100:::', '']

test.each<[string, { uid: number; gid: number }, string[], boolean]>([
  ['the group made with the account', { uid: 1000, gid: 1000 }, ['root:x:0:', 'mei:x:1000:'], true],
  ['one that lists the account itself', { uid: 1000, gid: 1000 }, ['mei:x:1000:mei'], true],
  ['one of the name of the account and another number', { uid: 1000, gid: 1002 }, ['mei:x:1002:'], true],
  ['one with another member', { uid: 1000, gid: 1000 }, ['mei:x:1000:mei,bo'], false],
  ['one that is the first group of another account', { uid: 1000, gid: 100 }, ['users:x:100:'], false],
  ['one of another name', { uid: 1000, gid: 50 }, ['staff:x:50:'], false],
  ['one of an account that is in no file, of its number', { uid: 5000, gid: 5000 }, [], true],
  ['one of an account that is in no file', { uid: 5000, gid: 20 }, [], false],
])('%s', (_, own, groups, isPrivate) => {
  expect(isGroupOfAccountAlone(own, accounts, groups)).toBe(isPrivate)
})

test('the group of root has no other accounts; one that is not ours may have', () => {
  expect(isPrivateGroup(0)).toBe(true)
  expect(isPrivateGroup(65_534)).toBe(false)
})
