import { expect, test } from 'vitest'

import { type TerminalSession, startTerminal } from '../harness/terminal-session.ts'
import { keys } from '../harness/terminal.ts'

const header = 'first_name,last_name,email,phone'

/** Returns the id of the only batch, or '' before it is added. */
async function readBatchId(terminal: TerminalSession): Promise<string> {
  const list = (await terminal.run(['batch', 'list', '--json'])).json() as { batch_id: string }[]
  return list[0]?.batch_id ?? ''
}

test('batch status --watch follows a batch that another window runs', async () => {
  const terminal = await startTerminal({
    filters: [
      [/\b\d+ s\b/g, 'N s'],
      [/\b[0-9a-f]{8} --watch/g, 'ID_1… --watch'],
    ],
  })
  const rows = Array.from(
    { length: 80 },
    (_, row) => `Ana,Row${row},a${row}@example.com,+61400000${100 + row}\n`,
  )
  terminal.write('people.csv', `${header}\n${rows.join('')}`)
  const stop = new AbortController()
  const runEnd = terminal.run(['batch', 'run', 'people.csv', '--package', '102', '--yes'], {
    signal: stop.signal,
  })
  await expect.poll(() => readBatchId(terminal), { timeout: 20_000 }).not.toBe('')
  const id = await readBatchId(terminal)
  await terminal.type(
    `refcheck batch status ${id.slice(0, 8)} --watch`,
    /58 of 80; \d+ s left\s+rows {6}58 accepted, 22 pending\s+requests {2}58 RECEIVED\s+quota {5}used up/,
  )
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck batch status ID_1… --watch
    2> [##############------]  58 of 80; N s left
    2> rows      58 accepted, 22 pending
    2> requests  58 RECEIVED
    2> quota     used up; next order in N s
  `)
  await terminal.press(keys.ctrlC)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch status ID_1… --watch
    2> Stopped watching; the batch continues
    exit 130
    $
  `)
  stop.abort()
  await runEnd
})
