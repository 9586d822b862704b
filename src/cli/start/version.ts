import { readFileSync } from 'node:fs'

/** The version of the package in the folder `root`. */
export function packageVersion(root: URL): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return version
}
