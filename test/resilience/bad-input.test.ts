import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { LaunchableCommand } from '../../src/cli/base-command.ts'
import { exitCodes, type ErrorCode } from '../../src/errors/kinds.ts'
import { main } from '../../src/cli/main.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import type { Outcome, RunOptions } from '../harness/run-command.ts'
import { sampleOf } from '../harness/share.ts'
import { type BadLine, badLines, commandIds } from './bad-input.ts'
import { type BadFolder, badFolder } from './world-of-bad-input.ts'

const fault = recordForFaultTable('bad-input', 'not refused in order', { titles: /every command/ })

/** Longer than any refusal takes. */
const longestMs = 10_000
/** A sandbox that has logged many lines is slow to list them. */
const linesPerFolder = 200
/** As much as is shown of a text, and how much more there is. */
const longestLine = 4_100
/** Codes of the contract that a line which is wrong may end with: never those of a fault, or of something that was done. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'io',
  'usage',
  'invalid_input',
  'unauthenticated',
  'not_found',
  'unavailable',
  'bad_signature',
  'incomplete',
])

const classes = new Map<string, LaunchableCommand>()

/** The commands as the program that is shipped finds them: oclif's own search takes ten times as long. */
async function launched(): Promise<NonNullable<RunOptions['main']> | undefined> {
  if (process.env['REFCHECK_BUILT'] !== undefined) return undefined
  for (const id of commandIds) {
    const path = `../../src/commands/${id.replaceAll(':', '/')}.ts`
    const { default: command } = (await import(path)) as { default: LaunchableCommand }
    command.id = id
    classes.set(id, command)
  }
  const root = new URL('../../', import.meta.url)
  return (argv, context) =>
    main(argv, context, root, {
      fromSource: true,
      findBuiltCommand: (line) => {
        for (const length of [3, 2, 1]) {
          const command = classes.get(line.slice(0, length).join(':'))
          if (command !== undefined) return { command, argv: line.slice(length) }
        }
        return undefined
      },
    })
}

interface Ran extends Outcome {
  isLate: boolean
}

async function ran(folder: BadFolder, argv: readonly string[], runs: RunOptions['main']): Promise<Ran> {
  const ctrlC = new AbortController()
  const late = Promise.withResolvers<true>()
  const timer = setTimeout(() => {
    ctrlC.abort()
    late.resolve(true)
  }, longestMs)
  // A server has started by then: a person leaves it.
  const onWrite = (): void => ctrlC.abort()
  const { cwd, clock } = folder
  const signal = ctrlC.signal
  const writer = argv.some((word) => /(?:^|=)pipe$/.test(word)) ? writes(join(cwd, 'pipe')) : undefined
  const run = folder.run(folder.words(argv), { cwd, clock, signal, onWrite, stdin: bytes, main: runs })
  const isLate = await Promise.race([run.then(() => false), late.promise])
  clearTimeout(timer)
  clearInterval(writer)
  return { ...(isLate ? none : await run), isLate }
}

/** Standard input where nothing better is there. */
const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x0a])

/** A writer at the other end of a FIFO, which writes and closes again and again, so that each reader receives something and the end. */
function writes(pipe: string): NodeJS.Timeout {
  return setInterval(() => {
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    writeSync(descriptor, bytes)
    closeSync(descriptor)
  }, 5)
}

const none: Outcome = { code: -1, stdout: '', stderr: '', bytes: Buffer.alloc(0), json: () => undefined }

/** Control characters but the ends of lines, marks that turn a line around, and halves of a character. */
const unshown = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Cs}]/u

/** What is wrong with how a line ended, as text and as JSON; undefined where nothing is. */
function misjudged(
  { mayPass, about, value }: BadLine,
  { code, stdout, stderr, isLate }: Ran,
  asJson: boolean,
): string | undefined {
  const outcome = `exit ${code}, ${JSON.stringify((stdout + stderr).slice(0, 300))}`
  if (isLate) return 'it did not end'
  if (/\binternal error: |TypeError|^ +at /m.test(stdout + stderr))
    return `a fault of the program: ${outcome}`
  if (mayPass && [0, 130].includes(code)) return undefined
  if (!asJson) {
    if (unshown.test(stderr)) return `it shows what is no text: ${outcome}`
    const errors = stderr.match(/^Error: /gm) ?? []
    if (errors.length !== 1) return `${errors.length} lines that say what is wrong: ${outcome}`
    if ((/^Error: .*/m.exec(stderr)?.[0] ?? '').length > longestLine) return `a line without end: ${outcome}`
    if (stdout !== '' && !mayPass) return `something on stdout: ${outcome}`
    return undefined
  }
  let error: { code?: ErrorCode; message?: string; hint?: string } | undefined
  try {
    ;({ error } = JSON.parse(stdout) as { error?: typeof error })
  } catch {
    return `no JSON: ${outcome}`
  }
  if (error?.code === undefined || error.message === undefined) return `no error: ${outcome}`
  if (exitCodes[error.code] !== code) return `another code than that of the error: ${outcome}`
  if (!mayPass && !refusals.has(error.code)) return `no refusal: ${outcome}`
  if (!mayPass && about !== undefined && !isNamed(about, value, error.message))
    return `it does not say where: ${outcome}`
  return undefined
}

/** Whether an argument or flag is named, as itself or as what it is. */
const isNamed = (about: string, value = '', message: string): boolean =>
  new RegExp(about.replaceAll(/^-+|-url$/g, '').replaceAll(/[-_]/g, '[-_ ]'), 'i').test(message) ||
  message.includes(value === '' ? '""' : (value.split('=', 1)[0] ?? value).slice(0, 20)) ||
  (value.includes('\0') && message.startsWith('an argument holds a NUL'))

/** What a command is there to change, where any text may be its value. */
const meant: Readonly<Record<string, string>> = { 'config:set': 'config/config.json' }

/** Each with a folder of its own, which are gone after it: together they would slow one another down. */
const large: readonly string[] = ['batch', 'sandbox', 'webhook', 'request']
const topicOf = (id: string): string => large.find((topic) => id.startsWith(`${topic}:`)) ?? 'the rest'

test.each([...large, 'the rest'])(
  'every command of %s refuses what is wrong with one clear line, and sends nothing',
  async (topic) => {
    const runs = await launched()
    const ids = commandIds.filter((id) => topicOf(id) === topic)
    const lines = ids.flatMap((id) => sampleOf(badLines(id), 4))
    const wrong: string[] = []
    let folder = await badFolder()
    for (const [at, line] of lines.entries()) {
      if (at % linesPerFolder === linesPerFolder - 1) folder = await badFolder()
      const found: string[] = []
      for (const asJson of [false, true]) {
        const argv = asJson ? [...line.argv, '--json'] : line.argv
        const what = misjudged(line, await ran(folder, argv, runs), asJson)
        const sent = folder.sent().filter((call) => !call.includes(' /_sandbox/'))
        const changed = folder.changed().filter((name) => name !== meant[line.id])
        const made = folder.made()
        if (what !== undefined) found.push(what)
        if (sent.length > 0) found.push(`it sent ${sent.join()}`)
        if (changed.length > 0) found.push(`it changed ${changed.join()}`)
        if (made.length > 0 && !line.mayPass) found.push(`it made ${made.join()}`)
      }
      if (found.length > 0) wrong.push(`${line.id}, ${line.about ?? ''} ${line.what}: ${found.join('; ')}`)
    }
    fault.countCases(lines.length, lines.length - wrong.length)
    fault.addNote(`${ids.length} commands of ${topic}`)
    expect(wrong).toEqual([])
  },
  1_800_000,
)
