import { z } from 'zod'

import { IoError } from '../../errors/io.ts'
import { checkProfileName } from './profile-name.ts'

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

/** The file's content checked; a damaged one is an IoError that names it and, where known, the place. */
export function parseSettingsFile(path: string, text: string): SettingsFile {
  const parsed = settingsFile.safeParse(parseJson(path, text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const place = issue?.path.join('.') ?? ''
    throw damaged(path, `${place === '' ? '' : `${place}: `}${issue?.message ?? 'wrong shape'}`)
  }
  for (const name of Object.keys(parsed.data.profiles ?? {})) {
    try {
      checkProfileName(name)
    } catch (error) {
      throw damaged(path, error instanceof Error ? error.message : 'a profile’s name')
    }
  }
  return parsed.data
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(path, `it is not JSON${placeOf(error)}`)
  }
}

/** The place alone: the parser's own message quotes the text. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message) : null
  return place === null ? '' : ` (${place[0]})`
}

/** For every damaged file of ours: nothing is ever written over it. */
function damaged(path: string, why: string): IoError {
  return new IoError(`"${path}" is damaged: ${why}`, {
    hint: 'Mend it by hand, or move it away and set things up again; it was not changed.',
  })
}
