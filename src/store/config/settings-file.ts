import { z } from 'zod'

import { damaged, parseKept } from './kept-file.ts'
import { checkProfileName } from '../../domain/session/session.ts'

/** Written by hand, a value may well be a number. */
const values = z.record(z.string(), z.union([z.string(), z.number()]))

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
