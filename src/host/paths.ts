import { homedir, userInfo } from 'node:os'
import { posix, win32 } from 'node:path'

import { type Environment, variable } from './process.ts'

/** Absolute folders of this user for this program; none of them need exist yet. */
export interface Paths {
  config: string
  data: string
}

/** An account without a home folder, as a container's often is, and no variable that names other folders. */
export class NoHomeError extends Error {}

/** A folder was given as a relative path: in another working folder it would be another store. */
export class RelativeFolderError extends Error {
  readonly variable: string
  readonly path: string

  constructor(name: string, path: string) {
    super(`${name} is a relative path`)
    this.variable = name
    this.path = path
  }
}

/**
 * REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR, else the platform's own places (XDG, Application Support, AppData). Throws a
 * NoHomeError where those are below a home folder that there is not, a RelativeFolderError for a relative path.
 */
export function resolvePaths(env: Environment, platform: NodeJS.Platform = process.platform): Paths {
  const [config, data] = ['REFCHECK_CONFIG_DIR', 'REFCHECK_DATA_DIR'].map((name) => {
    const given = variable(env, name)
    if (given !== undefined && !pathOf(platform).isAbsolute(given)) throw new RelativeFolderError(name, given)
    return given
  })
  if (config !== undefined && data !== undefined) return { config, data }
  const own = platformFolders(env, platform)
  return { config: config ?? own.config(), data: data ?? own.data() }
}

const pathOf = (platform: NodeJS.Platform): typeof posix => (platform === 'win32' ? win32 : posix)

/** Throws a NoHomeError where the account has none: a uid that no line of /etc/passwd names. A relative HOME is ignored. */
export function homeFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const named = variable(env, 'HOME') ?? variable(env, 'USERPROFILE')
  if (named !== undefined && pathOf(platform).isAbsolute(named)) return named
  try {
    // Node's homedir() answers HOME again.
    return named === undefined ? homedir() : userInfo().homedir
  } catch (cause) {
    throw new NoHomeError('no home folder', { cause })
  }
}

function platformFolders(
  env: Environment,
  platform: NodeJS.Platform,
): { config: () => string; data: () => string } {
  const path = pathOf(platform)
  // The XDG Base Directory Specification: a relative path is invalid, and is ignored.
  const below = (name: string, ...rest: string[]): string => {
    const named = variable(env, name)
    return named !== undefined && path.isAbsolute(named)
      ? named
      : path.join(homeFolder(env, platform), ...rest)
  }
  if (platform === 'win32') {
    return {
      config: () => path.join(below('APPDATA', 'AppData', 'Roaming'), 'refcheck'),
      data: () => path.join(below('LOCALAPPDATA', 'AppData', 'Local'), 'refcheck'),
    }
  }
  if (platform === 'darwin') {
    const support = (): string =>
      path.join(homeFolder(env, platform), 'Library', 'Application Support', 'refcheck')
    return { config: support, data: () => path.join(support(), 'data') }
  }
  return {
    config: () => path.join(below('XDG_CONFIG_HOME', '.config'), 'refcheck'),
    data: () => path.join(below('XDG_DATA_HOME', '.local', 'share'), 'refcheck'),
  }
}

/**
 * oclif asks for the account's home folder and shell, needs neither, and ends where there are none: a uid that no line
 * of /etc/passwd names.
 */
export async function withAccount<T>(job: () => Promise<T>): Promise<T> {
  if (hasName()) return job()
  const named = Object.entries({ HOME: '/', SHELL: '/bin/sh' }).filter(
    ([name]) => process.env[name] === undefined,
  )
  for (const [name, value] of named) process.env[name] = value
  try {
    return await job()
  } finally {
    for (const [name] of named) delete process.env[name]
  }
}

function hasName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}

/** A folder that was removed has no path any more; what it was called leads to plain words about it later. */
export function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    return process.env['PWD'] ?? '/'
  }
}
