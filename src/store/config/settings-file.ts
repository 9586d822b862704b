import { z } from 'zod'

import { damaged, parseKept } from './kept-file.ts'
import { checkProfileName } from '../../domain/session/session.ts'
import { settingDefinitions } from '../../domain/session/setting-keys.ts'

/** Written by hand, a value may well be a number. */
const value = z.union([z.string(), z.number()])

const values = z
  .object(Object.fromEntries(settingDefinitions.map(({ key }) => [key, value.optional()])))
  .catchall(value)

/** What config.json holds. Keys of a newer version are kept as they are. */
const settingsFile = z.looseObject({
  /** The current profile's name. */
  profile: z.string().optional(),
  profiles: z
    .record(
      z.string(),
      z.looseObject({ base_url: z.string(), user_email: z.string(), settings: values.optional() }),
    )
    .optional(),
  settings: values.optional(),
})
export type SettingsFile = z.infer<typeof settingsFile>

/**
 * JSON Schema of each key of the file, which conf checks before it writes. Values have no form of their own in it: a
 * wrong one that was written by hand must not refuse the next login.
 */
export const settingsSchema = (): z.core.JSONSchema.BaseSchema['properties'] =>
  z.toJSONSchema(settingsFile).properties

/** The file's content checked; throws as `parseKept`. */
export function parseSettingsFile(path: string, text: string): SettingsFile {
  const file = parseKept(path, text, settingsFile)
  for (const name of Object.keys(file.profiles ?? {})) {
    try {
      checkProfileName(name)
    } catch (error) {
      throw damaged(path, (error as Error).message)
    }
  }
  return file
}
