import { z } from 'zod'

import { type ErrorCode, exitCodes } from '../../errors/kinds.ts'

/*
 * The schemas of the JSON that each command prints. They allow no further keys, so that a test fails if a command
 * prints a key that its schema lacks. `reference` prints them with further keys allowed, because later versions may
 * add keys (src/docs/cli.md, "Streams").
 */

/** The `error` object of a failed command, or of an item that a command could not read. */
export const failure = z.strictObject({
  code: z.enum(Object.keys(exitCodes) as ErrorCode[]),
  message: z.string(),
  hint: z.string().optional(),
  status: z.int().optional(),
  field: z.string().optional(),
  retry_after: z.number().optional(),
  request_id: z.string().optional(),
  batch_id: z.string().optional(),
  row: z.int().optional(),
  match: z.enum(['exact', 'similar']).optional(),
  problems: z
    .array(z.strictObject({ field: z.string(), value: z.string().optional(), problem: z.string() }))
    .optional(),
})

export const moment = z.iso.datetime({ offset: true })
export const momentOrNull = moment.nullable()
export const count = z.int().nonnegative()
export const textOrNull = z.string().nullable()

/** Adds the optional `error` of the command to the schema of an answer. Arrays cannot have it. */
function withError(answer: z.ZodType): z.ZodType {
  if (answer instanceof z.ZodObject) return answer.extend({ error: failure.optional() })
  if (answer instanceof z.ZodUnion) return z.union(answer.options.map((each) => withError(each as z.ZodType)))
  return answer
}

/** Returns the schema of all documents that a command may print with --json: its answer, or only an error. */
export function documentSchemaOf(answer: z.ZodType): z.ZodType {
  return z.union([withError(answer), z.strictObject({ error: failure })])
}

/** Returns `documentSchemaOf` as JSON Schema (2020-12). It allows further keys, because later versions may add some. */
export function jsonSchemaOf(answer: z.ZodType): object {
  return z.toJSONSchema(documentSchemaOf(answer), {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
}
