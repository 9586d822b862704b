import { expect, test } from 'vitest'

import { runProgram } from '../../src/host/run-program.ts'

test.each([
  ['/nowhere/handler', 'program not found: "/nowhere/handler"'],
  [import.meta.dirname, `the program "${import.meta.dirname}" is not executable`],
])('the result for a program that cannot be started (%s) has a failure message', async (program, failure) => {
  const result = await runProgram([program], { env: {}, input: Buffer.from('x'), timeoutMs: 1000 })
  expect(result).toEqual({ code: null, failure })
})
