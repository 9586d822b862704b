import { z } from 'zod'

import { type ErrorCode, exitCodes } from '../../errors/kinds.ts'

/*
 * What --json prints, command by command. The shapes are closed, so that a test fails on a key that is printed and
 * not described; what `reference` prints of them is open, because keys may be added (src/docs/cli.md, "Streams").
 */

/** The `error` object of a command, or of an item that could not be had. */
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

/** An answer, with the error of the command that gave it where that did not end well. */
function withError(answer: z.ZodType): z.ZodType {
  if (answer instanceof z.ZodObject) return answer.extend({ error: failure.optional() })
  if (answer instanceof z.ZodUnion) return z.union(answer.options.map((each) => withError(each as z.ZodType)))
  return answer
}

/** All that a command may print with --json: its answer, or where it has none the error alone. */
export function documentOf(answer: z.ZodType): z.ZodType {
  return z.union([withError(answer), z.strictObject({ error: failure })])
}

/** The JSON Schema (2020-12) of that, open for keys that will be added. */
export function jsonSchemaOf(answer: z.ZodType): object {
  return z.toJSONSchema(documentOf(answer), {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
}
