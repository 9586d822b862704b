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
import { locked } from './locked.ts'
import type { SettingsFile } from './json-files.ts'

interface SettingValue {
  value: string
  /** Whether it was set for the profile or for all. */
  from: 'profile' | 'settings'
}

/** Profiles and settings, kept in one private file. Every call reads it again. */
export interface Settings {
  /** Absolute path of the file. */
  readonly path: string
  currentProfile(): Promise<string | undefined>
  /** By name, in the order they were saved. */
  profiles(): Promise<ReadonlyMap<string, Profile>>
  /** A name that cannot be one is an InvalidInputError. */
  profile(name: string): Promise<Profile | undefined>
  /** Adds or replaces; a replaced profile's own settings stay. */
  saveProfile(name: string, profile: Profile, options: { makeCurrent: boolean }): Promise<void>
  /** With its settings; false where there was none. The current one leaves no current one behind. */
  removeProfile(name: string): Promise<boolean>
  /** A name that is not there is a UsageError that lists the others. */
  switchTo(name: string): Promise<void>
  /** What is set, key by key; a profile's own value overrides the one for all. */
  values(profile?: string): Promise<ReadonlyMap<string, SettingValue>>
  value(key: string, profile?: string): Promise<string | undefined>
  /** Checks and keeps; answers the value as kept. For one profile, or for all. */
  setValue(key: string, text: string, profile?: string): Promise<string>
  /** False where it was not set. */
  unsetValue(key: string, profile?: string): Promise<boolean>
}

export interface SettingsOptions {
  paths: Paths
  clock: Clock
  /** Called with a sentence when looser permissions were fixed. */
  onMessage?: ((text: string) => void) | undefined
}

const maxBytes = 4 * 1024 * 1024

/** Reads nothing yet. */
export function openSettings(options: SettingsOptions): Settings {
  const path = join(options.paths.config, 'config.json')
  const read = (): Promise<SettingsFile> => readSettings(path, options)

  /** Nothing is written where `change` answers undefined. */
  const update = async (change: (file: SettingsFile) => SettingsFile | undefined): Promise<boolean> =>
    locked(path, options, async () => {
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

/** conf costs 80 ms to load, so reading goes without it. */
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
  const all = async (): Promise<Map<string, Profile>> => {
    const stored = Object.entries((await read()).profiles ?? {})
    return new Map(
      stored.map(([name, each]) => [name, { baseUrl: each.base_url, userEmail: each.user_email }]),
    )
  }
  return {
    profiles: all,
    currentProfile: async () => (await read()).profile,
    async profile(name) {
      checkProfileName(name)
      return (await all()).get(name)
    },
    async saveProfile(name, profile, { makeCurrent }) {
      checkProfileName(name)
      await update((file) => ({
        ...file,
        ...(makeCurrent ? { profile: name } : {}),
        profiles: {
          ...file.profiles,
          [name]: { ...own(file.profiles, name), base_url: profile.baseUrl, user_email: profile.userEmail },
        },
      }))
    },
    async removeProfile(name) {
      checkProfileName(name)
      return update((file) => {
        if (own(file.profiles, name) === undefined) return undefined
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
    const ofProfile =
      profile === undefined ? undefined : own(file.profiles, checkProfileName(profile))?.settings
    const found = new Map<string, SettingValue>()
    for (const { key } of settingDefinitions) {
      const value = own(ofProfile, key)
      const forAll = own(file.settings, key)
      if (value !== undefined) found.set(key, { value: String(value), from: 'profile' })
      else if (forAll !== undefined) found.set(key, { value: String(forAll), from: 'settings' })
    }
    return found
  }
  /** Applies `change` to the one profile's settings, or to those for all. */
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
        if (own(stored, key) === undefined) return undefined
        const { [key]: _removed, ...rest } = stored
        return rest
      })
    },
  }
}

type Values = NonNullable<SettingsFile['settings']>

type ProfileEntry = NonNullable<SettingsFile['profiles']>[string]

function own<T>(map: Record<string, T> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}

function requireProfile(file: SettingsFile, name: string): ProfileEntry {
  const entry = own(file.profiles, checkProfileName(name))
  if (entry !== undefined) return entry
  const known = Object.keys(file.profiles ?? {})
  throw new UsageError(`no profile named "${name}"`, {
    hint: known.length === 0 ? 'Log in with: refcheck auth login' : `Profiles: ${known.join(', ')}`,
  })
}
