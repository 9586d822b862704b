import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { session, type Session } from '../harness/session.ts'

/** A zero-width space, a tag, a soft hyphen, a right-to-left override, and a line break of each kind. */
const hidden = ['\u200B', '\u{E0041}', '\u00AD', '\u202E', '\n', '\r', '\u2028', '\u0085']
const name = hidden.map((each, at) => `${at}${each}`).join('')
/** All characters of `hidden` except the line feed, which ends the lines of the output. */
const hiddenInOutput = /[\u200B\u00AD\u202E\u2028\u0085\r]|\u{E0041}/u

/** Starts a session whose service returns the first name `name`, and orders one request. */
async function startSession(): Promise<{ here: Session; id: string }> {
  const here = await session()
  await here.type(orderArguments('Ana'))
  here.intercept(async (request, ask) => {
    const answer = await ask(request)
    if (!request.url.includes('/v1/requests/')) return answer
    const body = (await answer.json()) as { data: { recipient: object } }
    const recipient = { ...body.data.recipient, first_name: name }
    return Response.json({ ...body, data: { ...body.data, recipient } })
  })
  return { here, id: here.sandbox.requests()[0]?.request_id ?? '' }
}

test.each([true, false])(
  '--json prints hidden characters as JSON escapes (on a terminal: %s)',
  async (tty) => {
    const { here, id } = await startSession()
    const { stdout, json } = await here.type(`request get ${id} --json`, { tty })
    expect(stdout).not.toMatch(hiddenInOutput)
    expect(stdout).toContain(
      String.raw`"first_name": "0\u200b1\udb40\udc412\u00ad3\u202e4\n5\r6\u20287\u0085"`,
    )
    expect(json()).toMatchObject({ recipient: { first_name: name } })
  },
)

test('--jq replaces hidden characters and line breaks by marks on a terminal, and prints them unchanged to a pipe', async () => {
  const { here, id } = await startSession()
  const line = [
    'request',
    'get',
    id,
    '--jq',
    '.recipient.first_name, .recipient.last_name, {a: .recipient.first_name}',
  ]
  const marks = '0\uFFFD1\uFFFD2\uFFFD3\uFFFD4\uFFFD5\uFFFD6\uFFFD7\uFFFD'
  const shown = (await here.type(line, { tty: true })).stdout.split('\n')
  expect(shown.slice(0, 2)).toEqual([marks, 'Example'])
  expect(shown[2]).toMatch(/^\{"a":"0\uFFFD1\uFFFD2\uFFFD3\uFFFD4\\n5\\r6\uFFFD7\uFFFD"\}$/)
  expect((await here.type(line)).stdout).toContain(`${name}\nExample\n`)
})
