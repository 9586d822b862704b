import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { faultRow } from '../harness/faults/fault-row.ts'
import { shareOf } from '../harness/share.ts'
import { type Session, session } from '../harness/session.ts'
import { badLines, type BadLine, commandIds, isKnown, takenByFlags } from './bad-input.ts'

const fault = faultRow('bad-input', 'not refused in order', { of: /every command/ })

/** Longer than any refusal takes; what runs on was not refused. */
const longestMs = 10_000
/** Codes of the contract that a refusal ends with: wrong, not found, not there, no signature. */
const refusals = new Set([1, 2, 3, 5, 7, 9, 10])

/** What is wrong with how a line was refused; undefined where nothing is. */
async function judged(
  { run, sandbox, clock }: Session,
  { id, what, argv }: BadLine,
): Promise<string | undefined> {
  const ctrlC = AbortSignal.timeout(longestMs)
  const before = sandbox.requests().length
  const { code, stdout, stderr } = await run([...argv, '--json'], { clock, signal: ctrlC })
  const told = `${id}, ${what}: `
  if (sandbox.requests().length > before) return `${told}something was sent`
  if (!refusals.has(code)) return `${told}exit ${code}`
  if (/internal|TypeError|^ +at /m.test(stdout + stderr))
    return `${told}${stdout.replaceAll('\n', ' ').slice(0, 300)}`
  let document: unknown
  try {
    document = JSON.parse(stdout)
  } catch {
    return `${told}no JSON: ${stdout.slice(0, 200)}`
  }
  const { error } = document as { error?: { message?: string } }
  const message = error?.message ?? ''
  if (!/\S/.test(message) && !Array.isArray(document)) return `${told}no message: ${stdout.slice(0, 200)}`
  return message.includes('\n') ? `${told}more than a line: ${message}` : undefined
}

test('every command refuses what is wrong in its flags and arguments with one clear line, and sends nothing', async () => {
  const here = await session()
  peopleFile(here.folder, emails(1))
  const lines = shareOf(commandIds, 15).flatMap((id) => shareOf(badLines(id), 4))
  const wrong: string[] = []
  for (const line of lines) {
    const what = await judged(here, line)
    if (what !== undefined) wrong.push(what)
  }
  fault.cases(lines.length, lines.length - wrong.length)
  fault.says(`${new Set(lines.map(({ id }) => id)).size} of ${commandIds.length} commands`)
  expect(wrong).toEqual([])
}, 300_000)

test('of every flag it is known what is no value of it', () => {
  expect(Array.from(takenByFlags).filter((each) => !isKnown(each))).toEqual([])
})
