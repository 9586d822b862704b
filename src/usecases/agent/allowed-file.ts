import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'

import { NotFoundError, UsageError } from '../../errors/kinds.ts'

/** The one file of a folder that an agent named, by its real path. Throws for any other: nothing outside is read. */
export async function allowedFile(folder: string | undefined, named: string): Promise<string> {
  if (folder === undefined) {
    throw new UsageError('no folder with files was allowed', {
      hint: 'A person allows one by starting the server with --files DIR.',
    })
  }
  const home = await realpath(folder).catch(() => folder)
  const wanted = resolve(home, named)
  const refused = new NotFoundError('there is no such file in the folder of --files', {
    hint: 'Name a file by its path in that folder.',
  })
  // One answer for what is outside and for what is missing, so that nothing outside can be looked for.
  if (named.includes('\0') || !isInside(home, wanted)) throw refused
  const real = await realpath(wanted).catch(() => undefined)
  if (real === undefined || !isInside(home, real)) throw refused
  if (!(await stat(real)).isFile()) throw refused
  return real
}

function isInside(folder: string, path: string): boolean {
  const between = relative(folder, path)
  return between !== '' && between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
}
