import { IoError } from '../../errors/kinds.ts'

/** Two runners that reach one store by two names have two locks, so such a store is refused. */
export function requireOneName(
  path: string,
  { names, isMount }: { /** Hard links. */ names: number; isMount: boolean },
): void {
  if (names > 1) {
    throw new IoError(`cannot use the store "${path}": the file has ${names} names (hard links)`, {
      hint: 'Two runners could order the same people. Remove the other names, or copy the store with: refcheck store backup FILE',
    })
  }
  if (isMount) {
    throw new IoError(`cannot use the store "${path}": the file is mounted by itself`, {
      hint: 'Two runners could order the same people. Mount the folder that it is in, not the file.',
    })
  }
}

/** Whether a path is a mount point, by the text of Linux's /proc/self/mountinfo (proc(5)). */
export function isAmongMounts(path: string, mountinfo: string): boolean {
  return mountinfo.split('\n').some((line) => unescaped(line.split(' ')[4]) === path)
}

/** Space, tab, line end and backslash stand there in octal. */
function unescaped(text: string | undefined): string | undefined {
  return text?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
