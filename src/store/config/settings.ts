import { basename, dirname, extname, join } from 'node:path'

import type { Schema } from 'conf'

import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { readPrivate } from '../../disk/private-modes.ts'
import { checkProfileName, type Profile } from '../../domain/session/session.ts'
import { settingDefinition, settingDefinitions } from '../../domain/session/setting-keys.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Paths } from '../../host/paths.ts'
import { loadWithoutSignalHandlers } from '../../host/process.ts'
import { withLock } from './locked.ts'
import type { SettingsFile } from './json-files.ts'

interface SettingValue {
  value: string
  /** Whether the value was set for the profile or for all profiles. */
  from: 'profile' | 'settings'
}

/** Profiles and settings in one private file, which every method reads again. */
export interface Settings {
  /** The absolute path of the file. */
  readonly path: string
  currentProfile(): Promise<string | undefined>
  /** Returns the profiles by name, in the order in which they were saved. */
  profiles(): Promise<ReadonlyMap<string, Profile>>
  /** Returns a profile; undefined if there is none with this name. Throws InvalidInputError for an invalid name. */
  profile(name: string): Promise<Profile | undefined>
  /** Adds or replaces a profile; the settings of a replaced profile are kept. */
  saveProfile(name: string, profile: Profile, options: { makeCurrent: boolean }): Promise<void>
  /**
   * Removes a profile with its settings. Returns false if there was none. If it was the current profile, there is no
   * current profile afterwards.
   */
  removeProfile(name: string): Promise<boolean>
  /**
   * Makes a profile the current one. Throws UsageError with the names of all profiles if there is none with this
   * name.
   */
  switchTo(name: string): Promise<void>
  /** Returns the values that are set, by key; a value of the profile overrides the value for all profiles. */
  values(profile?: string): Promise<ReadonlyMap<string, SettingValue>>
  value(key: string, profile?: string): Promise<string | undefined>
  /** Checks and stores a value, for one profile or for all. Returns the stored value. */
  setValue(key: string, text: string, profile?: string): Promise<string>
  /** Removes a value. Returns false if it was not set. */
  unsetValue(key: string, profile?: string): Promise<boolean>
}

export interface SettingsOptions {
  paths: Paths
  clock: Clock
  /** Called with a sentence when permissions that were too open have been corrected. */
  onMessage?: ((text: string) => void) | undefined
}

const maxBytes = 4 * 1024 * 1024

/** Returns the settings without reading the file yet. */
export function openSettings(options: SettingsOptions): Settings {
  const path = join(options.paths.config, 'config.json')
  const read = (): Promise<SettingsFile> => readSettings(path, options)

  /**
   * Replaces the content of the file by the result of `change`; writes nothing and returns false if it is undefined.
   */
  const update = async (change: (file: SettingsFile) => SettingsFile | undefined): Promise<boolean> =>
    withLock(path, options, async () => {
      const next = change(await read())
      if (next === undefined) return false
      await writeSettings(path, next)
      return true
    })

  return {
    path,
    ...profileMethods(read, update),
    ...valueMethods(read, update),
  }
}

type Read = () => Promise<SettingsFile>

type Update = (change: (file: SettingsFile) => SettingsFile | undefined) => Promise<boolean>

async function readSettings(path: string, options: SettingsOptions): Promise<SettingsFile> {
  const file = await readPrivate(path, maxBytes, dirname(path))
  if (file === undefined) return {}
  if (file.warning !== undefined) options.onMessage?.(file.warning)
  const { parseSettingsFile } = await import('./json-files.ts')
  return parseSettingsFile(path, file.text)
}

/** Loads conf only here, because it takes 80 ms, which a command that only reads should not spend. */
async function writeSettings(path: string, content: SettingsFile): Promise<void> {
  const { default: Conf } = await loadWithoutSignalHandlers(() => import('conf'))
  const { settingsSchema } = await import('./json-files.ts')
  const extension = extname(path)
  try {
    const conf = new Conf<Record<string, unknown>>({
      cwd: dirname(path),
      configName: basename(path, extension),
      fileExtension: extension.slice(1),
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      schema: settingsSchema() as Schema<Record<string, unknown>>,
      ajvOptions: { allowUnionTypes: true },
    })
    conf.store = content
  } catch (error) {
    throw systemErrorCode(error) === undefined ? error : diskFailure('write', path, error)
  }
}

function profileMethods(
  read: Read,
  update: Update,
): Pick<Settings, 'currentProfile' | 'profiles' | 'profile' | 'saveProfile' | 'removeProfile' | 'switchTo'> {
  const readProfiles = async (): Promise<Map<string, Profile>> => {
    const stored = Object.entries((await read()).profiles ?? {})
    return new Map(
      stored.map(([name, each]) => [name, { baseUrl: each.base_url, userEmail: each.user_email }]),
    )
  }
  return {
    profiles: readProfiles,
    currentProfile: async () => (await read()).profile,
    async profile(name) {
      checkProfileName(name)
      return (await readProfiles()).get(name)
    },
    async saveProfile(name, profile, { makeCurrent }) {
      checkProfileName(name)
      await update((file) => ({
        ...file,
        ...(makeCurrent ? { profile: name } : {}),
        profiles: {
          ...file.profiles,
          [name]: {
            ...ownProperty(file.profiles, name),
            base_url: profile.baseUrl,
            user_email: profile.userEmail,
          },
        },
      }))
    },
    async removeProfile(name) {
      checkProfileName(name)
      return update((file) => {
        if (ownProperty(file.profiles, name) === undefined) return undefined
        const { [name]: _removed, ...profiles } = { ...file.profiles }
        const { profile: current, ...rest } = file
        return {
          ...rest,
          ...(current === undefined || current === name ? {} : { profile: current }),
          profiles,
        }
      })
    },
    async switchTo(name) {
      checkProfileName(name)
      await update((file) => {
        requireProfile(file, name)
        return { ...file, profile: name }
      })
    },
  }
}

function valueMethods(
  read: Read,
  update: Update,
): Pick<Settings, 'values' | 'value' | 'setValue' | 'unsetValue'> {
  const values = async (profile?: string): Promise<Map<string, SettingValue>> => {
    const file = await read()
    const profileSettings =
      profile === undefined ? undefined : ownProperty(file.profiles, checkProfileName(profile))?.settings
    const found = new Map<string, SettingValue>()
    for (const { key } of settingDefinitions) {
      const value = ownProperty(profileSettings, key)
      const sharedValue = ownProperty(file.settings, key)
      if (value !== undefined) found.set(key, { value: String(value), from: 'profile' })
      else if (sharedValue !== undefined) found.set(key, { value: String(sharedValue), from: 'settings' })
    }
    return found
  }
  /** Applies `edit` to the settings of one profile, or to those for all profiles. */
  const change = (
    profile: string | undefined,
    edit: (stored: Values) => Values | undefined,
  ): Promise<boolean> =>
    update((file) => {
      if (profile === undefined) {
        const settings = edit(file.settings ?? {})
        return settings === undefined ? undefined : { ...file, settings }
      }
      const entry = requireProfile(file, profile)
      const settings = edit(entry.settings ?? {})
      if (settings === undefined) return undefined
      return { ...file, profiles: { ...file.profiles, [profile]: { ...entry, settings } } }
    })
  return {
    values,
    async value(key, profile) {
      const definition = settingDefinition(key)
      const stored = (await values(profile)).get(key)
      return stored === undefined ? undefined : definition.parse(stored.value)
    },
    async setValue(key, text, profile) {
      const value = settingDefinition(key).parse(text)
      await change(profile, (stored) => ({ ...stored, [key]: value }))
      return value
    },
    async unsetValue(key, profile) {
      settingDefinition(key)
      return change(profile, (stored) => {
        if (ownProperty(stored, key) === undefined) return undefined
        const { [key]: _removed, ...rest } = stored
        return rest
      })
    },
  }
}

type Values = NonNullable<SettingsFile['settings']>

type ProfileEntry = NonNullable<SettingsFile['profiles']>[string]

function ownProperty<T>(map: Record<string, T> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}

function requireProfile(file: SettingsFile, name: string): ProfileEntry {
  const entry = ownProperty(file.profiles, checkProfileName(name))
  if (entry !== undefined) return entry
  const profileNames = Object.keys(file.profiles ?? {})
  throw new UsageError(`no profile named "${name}"`, {
    hint:
      profileNames.length === 0 ? 'Log in with: refcheck auth login' : `Profiles: ${profileNames.join(', ')}`,
  })
}
