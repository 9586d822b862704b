import { homedir } from 'node:os'
import { join } from 'node:path'

import { type Environment, variable } from './env.ts'

/** Absolute folders of this user for this program; none of them need exist yet. */
export interface Paths {
  config: string
  data: string
}

/** REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR, else the platform's own places (XDG, Application Support, AppData). */
export function resolvePaths(env: Environment, platform: NodeJS.Platform = process.platform): Paths {
  const home = variable(env, 'HOME') ?? variable(env, 'USERPROFILE') ?? homedir()
  const own = platformFolders(env, platform, home)
  return {
    config: variable(env, 'REFCHECK_CONFIG_DIR') ?? own.config,
    data: variable(env, 'REFCHECK_DATA_DIR') ?? own.data,
  }
}

function platformFolders(env: Environment, platform: NodeJS.Platform, home: string): Paths {
  if (platform === 'win32') {
    const roaming = variable(env, 'APPDATA') ?? join(home, 'AppData', 'Roaming')
    const local = variable(env, 'LOCALAPPDATA') ?? join(home, 'AppData', 'Local')
    return { config: join(roaming, 'refcheck'), data: join(local, 'refcheck') }
  }
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support', 'refcheck')
    return { config: support, data: join(support, 'data') }
  }
  return {
    config: join(variable(env, 'XDG_CONFIG_HOME') ?? join(home, '.config'), 'refcheck'),
    data: join(variable(env, 'XDG_DATA_HOME') ?? join(home, '.local', 'share'), 'refcheck'),
  }
}
