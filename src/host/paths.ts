import { homedir, userInfo } from 'node:os'
import { posix, win32 } from 'node:path'

import { type Environment, variable } from './process.ts'

/** Absolute paths of the folders that refcheck uses for this user. The folders may not exist yet. */
export interface Paths {
  config: string
  data: string
}

/** The account has no home folder, as in many containers, and no variable names other folders. */
export class NoHomeError extends Error {}

/** A variable names a relative path, which would be a different store in each working folder. */
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
 * Returns REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR, or the folders of the platform (XDG, Application Support,
 * AppData). Throws NoHomeError if a home folder is needed and there is none, and RelativeFolderError for a relative
 * path.
 */
export function resolvePaths(env: Environment, platform: NodeJS.Platform = process.platform): Paths {
  const [config, data] = ['REFCHECK_CONFIG_DIR', 'REFCHECK_DATA_DIR'].map((name) => {
    const path = variable(env, name)
    if (path !== undefined && !pathOf(platform).isAbsolute(path)) throw new RelativeFolderError(name, path)
    return path
  })
  if (config !== undefined && data !== undefined) return { config, data }
  const folders = platformFolders(env, platform)
  return { config: config ?? folders.config(), data: data ?? folders.data() }
}

const pathOf = (platform: NodeJS.Platform): typeof posix => (platform === 'win32' ? win32 : posix)

/**
 * Returns the home folder. Throws NoHomeError if the account has none: /etc/passwd has no line for its uid. A relative
 * HOME is ignored.
 */
export function homeFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const home = variable(env, 'HOME') ?? variable(env, 'USERPROFILE')
  if (home !== undefined && pathOf(platform).isAbsolute(home)) return home
  try {
    // homedir() of Node would return the relative HOME.
    return home === undefined ? homedir() : userInfo().homedir
  } catch (cause) {
    throw new NoHomeError('no home folder', { cause })
  }
}

function platformFolders(
  env: Environment,
  platform: NodeJS.Platform,
): { config: () => string; data: () => string } {
  const path = pathOf(platform)
  // The XDG Base Directory Specification requires that relative paths are ignored.
  const userFolder = (name: string, ...rest: string[]): string => {
    const value = variable(env, name)
    return value !== undefined && path.isAbsolute(value)
      ? value
      : path.join(homeFolder(env, platform), ...rest)
  }
  if (platform === 'win32') {
    return {
      config: () => path.join(userFolder('APPDATA', 'AppData', 'Roaming'), 'refcheck'),
      data: () => path.join(userFolder('LOCALAPPDATA', 'AppData', 'Local'), 'refcheck'),
    }
  }
  if (platform === 'darwin') {
    const support = (): string =>
      path.join(homeFolder(env, platform), 'Library', 'Application Support', 'refcheck')
    return { config: support, data: () => path.join(support(), 'data') }
  }
  return {
    config: () => path.join(userFolder('XDG_CONFIG_HOME', '.config'), 'refcheck'),
    data: () => path.join(userFolder('XDG_DATA_HOME', '.local', 'share'), 'refcheck'),
  }
}

/**
 * Runs `run` with HOME and SHELL set, if /etc/passwd has no line for the uid of this account. oclif reads the account's
 * home folder and shell, does not need them, and exits if they are missing.
 */
export async function withAccountVariables<T>(run: () => Promise<T>): Promise<T> {
  if (hasAccountName()) return run()
  const missingVariables = Object.entries({ HOME: '/', SHELL: '/bin/sh' }).filter(
    ([name]) => process.env[name] === undefined,
  )
  for (const [name, value] of missingVariables) process.env[name] = value
  try {
    return await run()
  } finally {
    for (const [name] of missingVariables) delete process.env[name]
  }
}

function hasAccountName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}

/**
 * Returns the working folder; if it was removed, its former path from PWD, so that a later error message can name it.
 */
export function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    return process.env['PWD'] ?? '/'
  }
}
