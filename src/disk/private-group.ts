import { readFileSync } from 'node:fs'

import { ownGroupId, ownUserId } from '../host/process.ts'

const rootGroup = 0

/**
 * Whether no other account than root is in a group: root's own, or the group of this account alone that many systems make
 * with each account, whose homes others of the group may then write to by their mode.
 */
export function isPrivateGroup(gid: number): boolean {
  if (gid === rootGroup) return true
  const uid = ownUserId()
  if (uid === undefined || gid !== ownGroupId()) return false
  return isGroupOf({ uid, gid }, linesOf('/etc/passwd'), linesOf('/etc/group'))
}

/**
 * By the lines of /etc/passwd and /etc/group. A directory service may have more members, so that the group has to have
 * the name or the number of the account as well.
 */
export function isGroupOf(
  { uid, gid }: { uid: number; gid: number },
  accounts: readonly string[],
  groups: readonly string[],
): boolean {
  const users = accounts.map((line) => line.split(':'))
  const ownName = users.find((user) => user[2] === String(uid))?.[0]
  if (users.some((user) => user[3] === String(gid) && user[2] !== String(uid))) return false
  const entries = groups.map((line) => line.split(':')).filter((group) => group[2] === String(gid))
  const members = entries.flatMap((group) => (group[3] ?? '').split(',').filter((name) => name !== ''))
  if (members.some((name) => name !== ownName)) return false
  return gid === uid || (ownName !== undefined && entries.some((group) => group[0] === ownName))
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
