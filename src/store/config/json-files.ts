import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { parseJson } from '../../contract/parse-json.ts'
import { checkProfileName } from '../../domain/session/session.ts'
import { settingDefinitions } from '../../domain/session/setting-keys.ts'
import { IoError } from '../../errors/kinds.ts'

/**
 * The content of a JSON file of ours, checked. A damaged one is an IoError that names it and, where
 * known, the place, and never quotes it: it may hold a secret.
 */
function parseStored<T>(path: string, text: string, shape: z.ZodType<T>): T {
  let content: unknown
  try {
    content = parseJson(text)
  } catch (error) {
    throw damaged(path, `it is not JSON${positionOf(error)}`)
  }
  const parsed = shape.safeParse(content, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const position = issue?.path.join('.')
  throw damaged(path, `${position ? `${position}: ` : 'it '}${issue?.message ?? ''}`)
}

/** The place alone: the parser's own message quotes the text. */
function positionOf(error: unknown): string {
  const position = /line \d+ column \d+/.exec(String(error))
  return position === null ? '' : ` (${position[0]})`
}

/** Nothing is ever written over a damaged file. */
function damaged(path: string, why: string): IoError {
  return new IoError(`"${path}" is damaged: ${why}`, {
    hint: 'It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login',
  })
}

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
  const file = parseStored(path, text, settingsFile)
  for (const name of Object.keys(file.profiles ?? {})) {
    try {
      checkProfileName(name)
    } catch (error) {
      throw damaged(path, (error as Error).message)
    }
  }
  return file
}

/** A secret itself, or the account of the keychain that has it. */
const storedEntry = z.looseObject({
  value: z.string().optional(),
  keychain: z.string().optional(),
  base_url: z.string().optional(),
})
export type StoredEntry = z.infer<typeof storedEntry>

/** What credentials.json holds. */
const secretsFile = z.looseObject({
  secrets: z
    .record(
      z.string(),
      z.looseObject({ 'api-key': storedEntry.optional(), 'webhook-secret': storedEntry.optional() }),
    )
    .optional(),
})
export type SecretsFile = z.infer<typeof secretsFile>

/** The file's content checked; throws as `parseKept`. */
export function parseSecretsFile(path: string, text: string): SecretsFile {
  return parseStored(path, text, secretsFile)
}
