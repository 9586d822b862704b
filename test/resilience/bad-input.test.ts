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
import { type BadFolder, createBadFolder } from './world-of-bad-input.ts'

const faultRow = recordForFaultTable('bad-input', {
  mustNotHappen: 'not refused in order',
  titles: /every command/,
})

/** A command line that has not ended after this time counts as a failure. */
const maxMs = 10_000
/** A new folder is used after this many lines, because a sandbox that has logged many calls is slow to list them. */
const linesPerFolder = 200
/** Maximum length of an error line, because the program shortens a long text and prints how much of it is omitted. */
const maxLineLength = 4_100
/** Error codes with which a bad command line may end: not the codes of an internal error or of a partial success. */
const refusalCodes: ReadonlySet<ErrorCode> = new Set([
  'io',
  'usage',
  'invalid_input',
  'unauthenticated',
  'not_found',
  'unavailable',
  'bad_signature',
  'incomplete',
])

const commandClasses = new Map<string, LaunchableCommand>()

/** Returns a `main` that finds commands as the built program does, because oclif's own search takes ten times as long. */
async function loadMain(): Promise<NonNullable<RunOptions['main']> | undefined> {
  if (process.env['REFCHECK_BUILT'] !== undefined) return undefined
  for (const id of commandIds) {
    const path = `../../src/commands/${id.replaceAll(':', '/')}.ts`
    const { default: command } = (await import(path)) as { default: LaunchableCommand }
    command.id = id
    commandClasses.set(id, command)
  }
  const root = new URL('../../', import.meta.url)
  return (argv, context) =>
    main(argv, context, root, {
      fromSource: true,
      findCommand: (line) => {
        for (const length of [3, 2, 1]) {
          const command = commandClasses.get(line.slice(0, length).join(':'))
          if (command !== undefined) return { command, argv: line.slice(length) }
        }
        return undefined
      },
    })
}

interface TimedOutcome extends Outcome {
  isLate: boolean
}

async function runLine(
  folder: BadFolder,
  argv: readonly string[],
  runMain: RunOptions['main'],
): Promise<TimedOutcome> {
  const ctrlC = new AbortController()
  const timeLimit = Promise.withResolvers<true>()
  const timer = setTimeout(() => {
    ctrlC.abort()
    timeLimit.resolve(true)
  }, maxMs)
  // A command that writes something while it runs is a server, which Ctrl+C ends.
  const onWrite = (): void => ctrlC.abort()
  const { cwd, clock } = folder
  const signal = ctrlC.signal
  const writer = argv.some((word) => /(?:^|=)pipe$/.test(word)) ? startWriter(join(cwd, 'pipe')) : undefined
  const run = folder.run(folder.fillIn(argv), {
    cwd,
    clock,
    signal,
    onWrite,
    stdin: invalidBytes,
    main: runMain,
  })
  const isLate = await Promise.race([run.then(() => false), timeLimit.promise])
  clearTimeout(timer)
  clearInterval(writer)
  return { ...(isLate ? noOutcome : await run), isLate }
}

/** Bytes for standard input and for the FIFO; they are not UTF-8. */
const invalidBytes = Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x0a])

/** Opens, writes and closes a FIFO repeatedly, so that each reader receives some bytes and the end of the file. */
function startWriter(pipe: string): NodeJS.Timeout {
  return setInterval(() => {
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    writeSync(descriptor, invalidBytes)
    closeSync(descriptor)
  }, 5)
}

const noOutcome: Outcome = { code: -1, stdout: '', stderr: '', bytes: Buffer.alloc(0), json: () => undefined }

/** Matches control characters except line feeds, bidirectional controls, and lone surrogates. */
const unprintable = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Cs}]/u

/** Returns what is wrong with the outcome of a bad command line; undefined if it was refused as required. */
function findProblem(
  { canBeAccepted, invalidPart, value }: BadLine,
  { code, stdout, stderr, isLate }: TimedOutcome,
  asJson: boolean,
): string | undefined {
  const outcome = `exit ${code}, ${JSON.stringify((stdout + stderr).slice(0, 300))}`
  if (isLate) return 'it did not end'
  if (/\binternal error: |TypeError|^ +at /m.test(stdout + stderr))
    return `a fault of the program: ${outcome}`
  if (canBeAccepted && [0, 130].includes(code)) return undefined
  if (!asJson) {
    if (unprintable.test(stderr)) return `it shows unprintable characters: ${outcome}`
    const errors = stderr.match(/^Error: /gm) ?? []
    if (errors.length !== 1) return `${errors.length} lines with an error: ${outcome}`
    if ((/^Error: .*/m.exec(stderr)?.[0] ?? '').length > maxLineLength)
      return `a line that is too long: ${outcome}`
    if (stdout !== '' && !canBeAccepted) return `something on stdout: ${outcome}`
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
  if (!canBeAccepted && !refusalCodes.has(error.code)) return `it was not refused: ${outcome}`
  if (!canBeAccepted && invalidPart !== undefined && !isNamed(invalidPart, value, error.message))
    return `it does not name the invalid part: ${outcome}`
  return undefined
}

/** Whether a message contains the name of the argument or flag, or the beginning of its value. */
const isNamed = (invalidPart: string, value = '', message: string): boolean =>
  new RegExp(invalidPart.replaceAll(/^-+|-url$/g, '').replaceAll(/[-_]/g, '[-_ ]'), 'i').test(message) ||
  message.includes(value === '' ? '""' : (value.split('=', 1)[0] ?? value).slice(0, 20)) ||
  (value.includes('\0') && message.startsWith('an argument holds a NUL'))

/** The file that a command may change by its purpose, because any text is a valid value. */
const intendedChanges: Readonly<Record<string, string>> = { 'config:set': 'config/config.json' }

/** Topics with many commands. Each has a test of its own, so that its folders are removed before the next test. */
const largeTopics: readonly string[] = ['batch', 'sandbox', 'webhook', 'request']
const findTopic = (id: string): string =>
  largeTopics.find((topic) => id.startsWith(`${topic}:`)) ?? 'the other topics'

test.each([...largeTopics, 'the other topics'])(
  'every command of %s refuses bad input with one clear line, and sends nothing',
  async (topic) => {
    const runMain = await loadMain()
    const ids = commandIds.filter((id) => findTopic(id) === topic)
    const lines = ids.flatMap((id) => sampleOf(badLines(id), 4))
    const failures: string[] = []
    let folder = await createBadFolder()
    for (const [at, line] of lines.entries()) {
      if (at % linesPerFolder === linesPerFolder - 1) folder = await createBadFolder()
      const problems: string[] = []
      for (const asJson of [false, true]) {
        const argv = asJson ? [...line.argv, '--json'] : line.argv
        const problem = findProblem(line, await runLine(folder, argv, runMain), asJson)
        const sent = folder.takeSentRequests().filter((call) => !call.includes(' /_sandbox/'))
        const changed = folder.takeChangedNames().filter((name) => name !== intendedChanges[line.id])
        const created = folder.takeCreatedNames()
        if (problem !== undefined) problems.push(problem)
        if (sent.length > 0) problems.push(`it sent ${sent.join()}`)
        if (changed.length > 0) problems.push(`it changed ${changed.join()}`)
        if (created.length > 0 && !line.canBeAccepted) problems.push(`it created ${created.join()}`)
      }
      if (problems.length > 0)
        failures.push(`${line.id}, ${line.invalidPart ?? ''} ${line.what}: ${problems.join('; ')}`)
    }
    faultRow.countCases(lines.length, lines.length - failures.length)
    faultRow.addNote(`${ids.length} commands of ${topic}`)
    expect(failures).toEqual([])
  },
  1_800_000,
)
