import { fstatSync, statSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'

import { processEnvironment } from '../../host/env.ts'
import { keepCompiledCode } from './compile-cache.ts'
import { preparedHelp } from './prepared-help.ts'
import { packageVersion } from './version.ts'

/**
 * What bin/run.js runs, whose package is in the folder `root`. The version and help need nothing but a file;
 * for everything else compiled code is kept first, so it stands in a chunk of its own, loaded before the others.
 */
export async function boot(argv: readonly string[], root: URL): Promise<number> {
  if (argv.length === 1 && argv[0] === '--version') {
    print(`refcheck ${packageVersion(root)}\n`)
    return 0
  }
  const page = mayBeTerminal() ? undefined : preparedHelp(argv, new URL('dist/help/', root))
  if (page !== undefined) {
    print(page)
    return 0
  }
  keepCompiledCode(processEnvironment(), packageVersion(root))
  const { start } = await import('./start.ts')
  return start(argv, root)
}

/** A terminal has a width and colours that no page was prepared for. To ask process.stdout would make it. */
function mayBeTerminal(): boolean {
  try {
    const stdout = fstatSync(1)
    return stdout.isCharacterDevice() && stdout.rdev !== statSync(devNull).rdev
  } catch {
    return true
  }
}

/** Past process.stdout, whose making costs a tenth of a start; it is needed where a pipe is full or gone. */
function print(text: string): void {
  let rest: Uint8Array = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest))
  } catch {
    process.stdout.on('error', () => {})
    process.stdout.write(rest)
  }
}
