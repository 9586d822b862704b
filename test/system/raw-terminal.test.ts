import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { program } from '../harness/program.ts'
import { openTerminal } from '../harness/terminal.ts'
import { type Interceptor, world } from '../harness/world.ts'

const escapesRow = recordForFaultTable('escapes', {
  mustNotHappen: 'views with raw controls',
  titles: /view/,
})
const codesRow = recordForFaultTable('codes', { mustNotHappen: 'views with raw controls', titles: /machine/ })

/** Sequences for clipboard, clearing and colours, also in 8-bit form, a right-to-left override, NUL, backspace and bell. */
const hostile =
  'evil\u001B]52;c;aGVsbG8=\u0007\u001B[1337;2J\u001B[1337m\u009B1337m\u009D52;c;aGk=\u009C\u001BPq\u001B\\\u202Etxt\u0000\u0008\u0007'

/** Keys of texts that an organisation or the service chooses. */
const freeTextKeys = new Set([
  'name',
  'display_name',
  'description',
  'message',
  'job_title',
  'check_name',
  'partner_name',
])

/** Adds the hostile text to each free text of an answer, also of a 400. */
const addHostileText: Interceptor = async (request, ask) => {
  const answer = await ask(request)
  if (!answer.headers.get('content-type')?.includes('json')) return answer
  const body = JSON.parse(await answer.text(), (key, value: unknown) =>
    typeof value === 'string' && freeTextKeys.has(key) ? `${value} ${hostile}` : value,
  ) as unknown
  return Response.json(body, { status: answer.status })
}

const escape = '\u001B'
/** Sequences that refcheck itself may print: colours and cursor moves, without the parameter in the hostile text. */
const allowedSequences = new RegExp(String.raw`${escape}\[(?!1337)[\d;?]*[A-Za-z]|[\r\n]`, 'g')

async function readRawOutput(line: string, folder: string, env: Record<string, string>): Promise<string> {
  const file = join(folder, 'env')
  writeFileSync(
    file,
    Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const terminal = await openTerminal([`--env-file=${file}`, program, ...line.split(' ')], 200, {
    isStdoutTerminal: true,
  })
  await terminal.ended
  return terminal.raw()
}

async function startWorld() {
  const here = await world({ quota: [] })
  writePeopleFile(here.folder, createEmails(2))
  const people = join(here.folder, 'people.csv')
  const order = await here.run(['batch', 'run', people, '--package', '102', '--yes', '--json'])
  expect(order.code).toBe(0)
  const { batch_id: batch } = order.json() as { batch_id: string }
  const [request] = here.sandbox.requests()
  writeFileSync(
    join(here.folder, 'hostile.csv'),
    `first_name,last_name,email,phone\nAna${hostile.replace('\u0000', '')},Ito,ana@example.com,+61412345678\n`,
  )
  here.intercept(addHostileText)
  const missing = '00000000-0000-4000-8000-000000000000'
  return {
    here,
    createLines: (lines: string) =>
      lines
        .trim()
        .split('\n')
        .map((line) =>
          line
            .trim()
            .replace('BATCH', batch)
            .replace('REQUEST', request?.request_id ?? '')
            .replace('FOLDER', here.folder)
            .replace('MISSING', missing),
        ),
  }
}

/** Returns the command lines whose output has control characters, and the number of those that print the hostile text. */
async function findRawControls(
  lines: readonly string[],
  here: { folder: string; env: Record<string, string> },
) {
  const failures: string[] = []
  let shown = 0
  for (const line of lines) {
    const raw = await readRawOutput(line, here.folder, here.env)
    if (raw.includes('evil')) shown += 1
    const unexpected = raw.replaceAll(allowedSequences, '')
    const found = /[\p{Cc}\p{Bidi_Control}]/u.exec(unexpected)
    if (found !== null)
      failures.push(
        `${line}: ${JSON.stringify(unexpected.slice(Math.max(0, found.index - 40), found.index + 20))}`,
      )
  }
  return { failures, shown }
}

test('texts of the service have no control characters in the main views of a real terminal', async () => {
  const { here, createLines } = await startWorld()
  const lines = createLines(`
    packages list
    schema show 102
    users list
    request get REQUEST
    request get MISSING
    request list --refresh
    batch validate FOLDER/hostile.csv --package 102
    batch run FOLDER/people.csv --package 102 --dry-run
    batch status BATCH
    batch rows BATCH
    status
    doctor
    quota
    webhook events list
    users list --verbose
  `)
  const { failures, shown } = await findRawControls(lines, here)
  escapesRow.countCases(lines.length, lines.length - failures.length)
  expect(failures).toEqual([])
  // Checks that the views print the hostile text at all.
  expect(shown).toBeGreaterThanOrEqual(5)
})

test('output for machines has no control characters when it is printed to a terminal', async () => {
  const { here, createLines } = await startWorld()
  const lines = createLines(`
    packages list --csv
    packages list --json
    packages list --jq .[].name
    users list --csv
    users list --json
    schema show 102 --json
    schema show 102 --json-schema
    request get REQUEST --json
    request get MISSING --json
    batch validate FOLDER/hostile.csv --package 102 --json
    api GET /v1/packages
    api GET /v1/users --include
  `)
  const { failures, shown } = await findRawControls(lines, here)
  codesRow.countCases(lines.length, lines.length - failures.length)
  expect(failures).toEqual([])
  expect(shown).toBeGreaterThanOrEqual(6)
})
