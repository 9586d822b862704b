import { z } from 'zod'

import { parseKept } from './kept-file.ts'

/** A secret itself, or the account of the keychain that has it. */
const keptEntry = z.looseObject({
  value: z.string().optional(),
  keychain: z.string().optional(),
  base_url: z.string().optional(),
})
export type KeptEntry = z.infer<typeof keptEntry>

/** What credentials.json holds. */
const secretsFile = z.looseObject({
  secrets: z
    .record(
      z.string(),
      z.looseObject({ 'api-key': keptEntry.optional(), 'webhook-secret': keptEntry.optional() }),
    )
    .optional(),
})
export type SecretsFile = z.infer<typeof secretsFile>

/** The file's content checked; throws as `parseKept`. */
export function parseSecretsFile(path: string, text: string): SecretsFile {
  return parseKept(path, text, secretsFile)
}
