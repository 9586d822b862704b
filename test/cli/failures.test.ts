import { Args, Flags } from '@oclif/core'
import { parse } from '@oclif/core/parser'
import { expect, test } from 'vitest'

import { isParseFailure, toUsageError } from '../../src/cli/failures.ts'

/** Returns the error that the parser of oclif throws for a command line. */
async function catchParseError(
  argv: string[],
  args = { file: Args.string({ required: true }) },
): Promise<Error> {
  const flags = {
    format: Flags.string({ options: ['csv', 'json'] }),
    output: Flags.string({ required: argv.includes('needs-output') }),
    sheet: Flags.string({ dependsOn: ['output'] }),
  }
  try {
    await parse(argv, { args, flags, strict: true })
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error(`oclif accepted ${argv.join(' ')}`)
}

test.each([
  ['NonExistentFlagsError', ['a.csv', '--formt=x'], 'unknown flag --formt'],
  ['UnexpectedArgsError', ['a.csv', 'b.csv'], 'unexpected argument "b.csv"'],
  ['RequiredArgsError', [], 'FILE is required'],
  ['CLIError', ['a.csv', '--format', 'csv', '--format', 'csv'], 'Flag --format can only be specified once'],
  ['CLIError', ['a.csv', '--sheet'], '--sheet requires a value'],
  ['FlagInvalidOptionError', ['a.csv', '--format', 'pdf'], '--format: "pdf" is not one of: csv, json'],
  ['FlagInvalidOptionError', ['a.csv', '--format', 'p\ndf'], '--format: "p\ndf" is not one of: csv, json'],
  ['FailedFlagValidationError', ['needs-output'], '--output is required'],
  ['FailedFlagValidationError', ['a.csv', '--sheet', '1'], '--sheet requires --output'],
])('oclif throws a %s for %j, and toUsageError translates its message', async (name, argv, message) => {
  const error = await catchParseError(argv)
  expect(error.constructor.name).toBe(name)
  expect(isParseFailure(error)).toBe(true)
  expect(toUsageError(error).message).toBe(message)
})

test('an error that oclif did not throw is not a parse failure', () => {
  expect(isParseFailure(new TypeError('x is undefined'))).toBe(false)
  expect(isParseFailure('CLIError')).toBe(false)
})
