import { expect, test } from 'vitest'

import { runProgram } from '../../src/host/run-program.ts'

test.each([
  ['/nowhere/handler', 'program not found: "/nowhere/handler"'],
  [import.meta.dirname, `the program "${import.meta.dirname}" is not executable`],
])('a program that cannot be started (%s) is told in words', async (program, failure) => {
  const ran = await runProgram([program], { env: {}, input: Buffer.from('x'), timeoutMs: 1000 })
  expect(ran).toEqual({ code: null, failure })
})
