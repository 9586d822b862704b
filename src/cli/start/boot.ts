import { fstatSync, readFileSync, statSync, writeSync } from 'node:fs'

import { preparedHelp } from './prepared-help.ts'

/**
 * What bin/run.js runs, whose package is in the folder `root`. The version and help need nothing but a file;
 * for everything else compiled code is kept first, and only then is `program`, the rest, loaded.
 */
export async function boot(
  argv: readonly string[],
  root: URL,
  program: () => typeof import('./start.ts'),
): Promise<number> {
  if (argv.length === 1 && argv[0] === '--version') {
    print(`refcheck ${packageVersion(root)}\n`)
    return 0
  }
  const page = mayBeTerminal() ? undefined : preparedHelp(argv, new URL('dist/help/', root))
  if (page !== undefined) {
    print(page)
    return 0
  }
  const { keepCompiledCode } = await import('./compile-cache.ts')
  keepCompiledCode(packageVersion(root))
  return program().start(argv, root)
}

/** A terminal has a width and colours that no page was prepared for. To ask process.stdout would make it. */
function mayBeTerminal(): boolean {
  try {
    const stdout = fstatSync(1)
    return stdout.isCharacterDevice() && stdout.rdev !== statSync('/dev/null').rdev
  } catch {
    return true
  }
}

function packageVersion(root: URL): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return version
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
