import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { root } from '../house/sources.ts'

test('groff prints the manual without a warning', () => {
  const page = join(root, 'dist', 'man', 'refcheck.1')
  const { status, stdout, stderr } = spawnSync('groff', ['-man', '-ww', '-Kutf8', '-Tutf8', page], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GROFF_NO_SGR: '1' },
  })
  expect([status, stderr]).toEqual([0, ''])
  // Bold is a letter, a backspace and the letter again.
  const plain = stdout.replaceAll(new RegExp(`.${String.fromCharCode(8)}`, 'g'), '')
  expect(plain).toMatch(/^NAME\n\s+refcheck\s+-\s+order\s+background/m)
  expect(plain).toContain('--on-invalid stop|skip')
})
