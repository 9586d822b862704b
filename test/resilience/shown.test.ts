import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

recordForFaultTable('lines', { mustNotHappen: 'forged lines', titles: /line/ })
const sharedFolderRow = recordForFaultTable('shared-folder', {
  mustNotHappen: 'folders that were not reported',
  titles: /folder/,
})

/** Texts of a service that try to forge output: line breaks, invisible and bidirectional characters, 3 MB. */
const forgedTexts: [description: string, text: string, expectedOutput: RegExp][] = [
  ['a line break', 'no\nError: all is well', /^(?!Error: all is well)/],
  ['a carriage return', 'no\rError: all is well', /no.Error: all is well/],
  ['another line break', 'no\u2028Error: all is well', /no.Error: all is well/],
  ['a zero-width space', 'pass\u200Bword', /pass.word/],
  ['tag characters', 'no\u{E0041}\u{E0042}', /no\uFFFD/],
  ['text turned around', 'no \u202Efdp.exe', /no \uFFFDfdp\.exe/],
  ['an escape', 'no\u001B[2J\u001B[Hgone', /no/],
  ['3 MB', 'x'.repeat(3_000_000), /x{20}… \(\d{2},\d{3} more characters\)$/],
]

test.each(forgedTexts)(
  '%s in a message of the service is shown on one line of a row’s error',
  async (_description, text, expectedOutput) => {
    const here = await session()
    writePeopleFile(here.folder, createEmails(2))
    here.intercept((request, ask) =>
      request.method === 'POST'
        ? Response.json({ data: null, status_message: 'ERROR', message: text }, { status: 400 })
        : ask(request),
    )
    const { stdout, stderr, code } = await here.type('batch run people.csv --package 102 --yes')
    expect(code).not.toBe(0)
    const lines = (stdout + stderr).split('\n')
    expect(lines.filter((line) => line.startsWith('Error: all is well'))).toEqual([])
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(5000)
    const output = lines.filter((line) => line.startsWith('Ana Row1 unknown: ')).join('\n')
    expect(output).toMatch(expectedOutput)
    expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u200B\u{E0041}]/u)
  },
)

test.each([
  ['0777', 0o777],
  ['1777', 0o1777],
  ['of another account', undefined],
])('a store in a folder that is %s is reported, and doctor fails', async (_what, mode) => {
  if (mode === undefined && process.getuid?.() !== 0)
    return sharedFolderRow.markNotTried('only root can give folders away')
  const here = await session()
  const folder = join(here.folder, 'shared')
  mkdirSync(folder)
  if (mode === undefined) chownSync(folder, 54_321, 54_321)
  else chmodSync(folder, mode)
  writePeopleFile(here.folder, createEmails(1))
  const env = { REFCHECK_STORE: join(folder, 'ledger.sqlite') }
  const run = await here.type('batch run people.csv --package 102 --yes', { env })
  expect(run.stderr).toContain('is not safe: ')
  const doctor = await here.type('doctor', { env })
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/could be replaced by others|^fail {2}writing .*another user/m)
})
