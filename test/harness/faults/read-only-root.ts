import { spawnSync } from 'node:child_process'

/** Path at which the program sees `folder`. */
export const mountedFolder = '/mnt/all'

export interface ProgramResult {
  status: number | null
  stdout: string
  stderr: string
}

/**
 * Runs a program as an account without a name, where `/` can only be read, nothing in /tmp can be executed,
 * and `folder` is mounted at `mountedFolder`. Needs root, and the right to create a mount namespace.
 */
export function runWithReadOnlyRoot(
  folder: string,
  uid: number,
  argv: readonly string[],
  env: Record<string, string>,
): ProgramResult {
  const mounts = [
    'mount --make-rprivate /',
    'mount -t tmpfs tmpfs /mnt',
    `mkdir ${mountedFolder}`,
    `mount --bind "$1" ${mountedFolder}`,
    'mount -t tmpfs -o noexec,mode=1777 tmpfs /tmp',
    'mount -o remount,ro,bind /',
  ]
  const script = `${mounts.join(' && ')} || exit 99; uid=$2; shift 2; cd /; exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"`
  const unshareArguments = ['--mount', 'sh', '-c', script, 'sh', folder, String(uid), ...argv]
  const { status, stdout, stderr } = spawnSync('unshare', unshareArguments, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
