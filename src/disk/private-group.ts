import { readFileSync } from 'node:fs'

import { ownGroupId, ownUserId } from '../host/process.ts'

const rootGroup = 0

/**
 * Whether a group has no members other than root or the user: it is root's group, or the group that many systems make
 * for each account alone. On such systems home folders are often writable by the group.
 */
export function isPrivateGroup(gid: number): boolean {
  if (gid === rootGroup) return true
  const uid = ownUserId()
  if (uid === undefined || gid !== ownGroupId()) return false
  return isGroupOfAccountAlone({ uid, gid }, readLines('/etc/passwd'), readLines('/etc/group'))
}

/**
 * Decides it by the lines of /etc/passwd and /etc/group. A directory service may have more members, so the group must
 * also have the name or the id of the account.
 */
export function isGroupOfAccountAlone(
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

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
