import { IoError } from '../errors/kinds.ts'

/** Codes of system errors as problems that a user can act on: [what is wrong, what to do]. */
const explanations: Readonly<Record<string, readonly [string, string]>> = {
  ENOSPC: ['no space is left on the disk', 'Free some space or use another folder, then run it again.'],
  EDQUOT: ['your disk quota is used up', 'Free some space or use another folder, then run it again.'],
  EFBIG: ['the file would be larger than this account may write', 'Raise the limit, or use another folder.'],
  EROFS: ['the file system is read-only', 'Use a folder on a writable disk.'],
  EACCES: ['permission denied', 'Check who owns the file and its folder, or use another folder.'],
  EPERM: ['the operation is not permitted', 'Check who owns the file and its folder, or use another folder.'],
  ENOENT: ['there is no such file or folder', 'Check the path.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Check the path.'],
  EISDIR: ['it is a folder', 'Give the name of a file.'],
  EEXIST: ['it already exists', 'Use another name, or move the existing file away.'],
  ELOOP: ['it is a symbolic link', 'Give the real file instead of a link to it.'],
  ENAMETOOLONG: ['the name is too long', 'Use a shorter name.'],
  EMFILE: ['too many files are open', 'Raise the limit of open files, then run it again.'],
  ENOTEMPTY: ['it is a folder', 'Give the name of a file.'],
}

/** Returns the `code` of a Node system error (`ENOENT` …); undefined for any other value. */
export function systemErrorCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}

/** Makes an error with the code of a system error. */
export const systemError = (code: string): Error => Object.assign(new Error(code), { code })

/** Returns an IoError with the message `cannot <action> "<path>": <why>`. */
export function diskFailure(action: string, path: string, cause: unknown): IoError {
  const code = systemErrorCode(cause) ?? 'an unknown error'
  const [why, hint] = explanations[code] ?? [
    `the disk or system reported ${code}`,
    'Check the disk, then run it again.',
  ]
  return new IoError(`cannot ${action} "${path}": ${why}`, { hint, cause })
}

/** Whether the error is the IoError of a write that found an existing file and may not replace it. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof IoError && systemErrorCode(error.cause) === 'EEXIST'
}
