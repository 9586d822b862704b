import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { parseJson } from '../../contract/parse-json.ts'
import { checkProfileName } from '../../domain/session/session.ts'
import { settingDefinitions } from '../../domain/session/setting-keys.ts'
import { IoError } from '../../errors/kinds.ts'

/**
 * Parses and checks a JSON file of this program. Throws IoError for a damaged file, with its path and if possible the
 * position, but never its content, which may include a secret.
 */
function parseStored<T>(path: string, text: string, shape: z.ZodType<T>): T {
  let content: unknown
  try {
    content = parseJson(text)
  } catch (error) {
    throw damagedFileError(path, `it is not JSON${positionOf(error)}`)
  }
  const parsed = shape.safeParse(content, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const position = issue?.path.join('.')
  throw damagedFileError(path, `${position ? `${position}: ` : 'it '}${issue?.message ?? ''}`)
}

/** Returns the position in a parser's error. Its message is not used, because it quotes the text. */
function positionOf(error: unknown): string {
  const position = /line \d+ column \d+/.exec(String(error))
  return position === null ? '' : ` (${position[0]})`
}

/** Makes the error for a damaged file, which is never overwritten. */
function damagedFileError(path: string, why: string): IoError {
  return new IoError(`"${path}" is damaged: ${why}`, {
    hint: 'It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login',
  })
}

/** A value; if a user wrote the file by hand, it may be a number. */
const settingValue = z.union([z.string(), z.number()])

const settingValues = z
  .object(Object.fromEntries(settingDefinitions.map(({ key }) => [key, settingValue.optional()])))
  .catchall(settingValue)

/** The content of config.json. Unknown keys, such as those of a newer version, are kept. */
const settingsFile = z.looseObject({
  /** The name of the current profile. */
  profile: z.string().optional(),
  profiles: z
    .record(
      z.string(),
      z.looseObject({ base_url: z.string(), user_email: z.string(), settings: settingValues.optional() }),
    )
    .optional(),
  settings: settingValues.optional(),
})
export type SettingsFile = z.infer<typeof settingsFile>

/**
 * Returns the JSON Schema of each key of the file, which conf checks before it writes. Values may have any form: an
 * invalid value that was written by hand must not prevent the next login.
 */
export const settingsSchema = (): z.core.JSONSchema.BaseSchema['properties'] =>
  z.toJSONSchema(settingsFile).properties

/** Parses and checks config.json. Throws IoError as `parseStored` does. */
export function parseSettingsFile(path: string, text: string): SettingsFile {
  const file = parseStored(path, text, settingsFile)
  for (const name of Object.keys(file.profiles ?? {})) {
    try {
      checkProfileName(name)
    } catch (error) {
      throw damagedFileError(path, (error as Error).message)
    }
  }
  return file
}

/** A secret, or the account of the keychain that contains it. */
const storedEntry = z.looseObject({
  value: z.string().optional(),
  keychain: z.string().optional(),
  base_url: z.string().optional(),
})
export type StoredEntry = z.infer<typeof storedEntry>

/** The content of credentials.json. */
const secretsFile = z.looseObject({
  secrets: z
    .record(
      z.string(),
      z.looseObject({ 'api-key': storedEntry.optional(), 'webhook-secret': storedEntry.optional() }),
    )
    .optional(),
})
export type SecretsFile = z.infer<typeof secretsFile>

/** Parses and checks credentials.json. Throws IoError as `parseStored` does. */
export function parseSecretsFile(path: string, text: string): SecretsFile {
  return parseStored(path, text, secretsFile)
}
