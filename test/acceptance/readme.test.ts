import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { commandWords } from '../../src/domain/webhook/command-words.ts'
import { start } from '../harness/process.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

interface Manifest {
  commands: Record<string, { flags: Record<string, unknown> }>
}
const manifest = JSON.parse(readFileSync(new URL('oclif.manifest.json', root), 'utf8')) as Manifest

interface Line {
  text: string
  /** What the README prints below it. */
  output: string
}

/** Command lines of the README's code blocks, below a heading, in order. */
function blockCommands(from: string): Line[] {
  const lines = readme.slice(readme.indexOf(from)).split('\n')
  const found: Line[] = []
  let inside = false
  for (const line of lines) {
    if (line.startsWith('```')) inside = !inside
    const command = /^(?:\$ )?(refcheck .*)$/.exec(line)?.[1]
    if (inside && command !== undefined) found.push({ text: command, output: '' })
    else if (inside && found.length > 0) (found.at(-1) as Line).output += `${line}\n`
  }
  return found
}

/** Those in the running text too. */
function everyCommand(): string[] {
  const inline = [...readme.matchAll(/`(refcheck [^`]+)`/g)].map(([, text = '']) => text)
  return [...blockCommands('# refcheck').map(({ text }) => text), ...inline]
}

/** The longest name of a command that the words begin with. */
function commandOf(words: readonly string[]): string | undefined {
  return [3, 2, 1]
    .map((length) => words.slice(0, length).join(':'))
    .find((id) => manifest.commands[id] !== undefined)
}

const ofPlugins = new Set(['help', 'autocomplete'])
const globalFlags = ['json', 'profile', 'no-color', 'quiet', 'verbose', 'help', 'version']

test('every command and flag in the README is there', () => {
  const wrong = everyCommand().flatMap((text) => {
    const [, ...words] = commandWords(text.replace(/ [|<>] .*$/, '').replaceAll('…', 'X'), 'the README')
    if (ofPlugins.has(words[0] ?? '') || words[0]?.startsWith('-') === true) return []
    const id = commandOf(words)
    if (id === undefined) return [`${text}: no such command`]
    const flags = new Set([...Object.keys(manifest.commands[id]?.flags ?? {}), ...globalFlags])
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.slice(2).split('=')[0] ?? '')
      .filter((flag) => !flags.has(flag))
      .map((flag) => `${text}: no flag --${flag}`)
  })
  expect(wrong).toEqual([])
})

/** Command lines that this walk cannot type, each with its reason. */
const left: [beginning: string, why: string][] = [
  ['refcheck sandbox start', 'it runs in the first terminal'],
  ['refcheck webhook verify', 'its signatures belong to a secret of the README’s own'],
  ['refcheck webhook listen', 'it runs until it is stopped'],
  ['refcheck webhook send', 'it needs a receiver of the reader’s'],
  ['refcheck webhook check-receiver', 'it needs a receiver of the reader’s'],
  ['refcheck batch reconcile', 'no order of this walk is unknown'],
]

test('"sandbox start" in a second terminal carries a newcomer through the README', async () => {
  const folder = temporaryFolder()
  const env = emptyEnv(folder)
  const sandbox = start(['sandbox', 'start', '--speed', '600', '--login', '--port', '0'], env)
  await sandbox.until('Then try:')
  writeFileSync(
    join(folder, 'people.csv'),
    'Given name,last_name,email,phone\nPriya,Shah,priya.b@example.com,+61 412 345 678\nMei,Tanaka,mei@example.com,+819012345678\n',
  )
  const run = (argv: readonly string[]) => refcheck(argv, { cwd: folder, env })
  const failures: { line: string; code: number; stderr: string }[] = []
  let requestId = ''
  let typed = 0
  for (const { text, output } of blockCommands('## What can be ordered')) {
    if (left.some(([beginning]) => text.startsWith(beginning))) continue
    const [line = ''] = text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, requestId).split(' > ')
    const [, ...argv] = commandWords(line, 'the README')
    if (argv[0] === 'report') await run(['request', 'wait', requestId, '--for', 'report'])
    const { code, stdout, stderr } = await run(argv)
    typed += 1
    // What the README shows going wrong may go wrong; its own file has a mistake to show.
    if (code !== 0 && !/^Error: /m.test(output)) failures.push({ line, code, stderr })
    requestId = /created {2}([0-9a-f-]{36})/.exec(stdout)?.[1] ?? requestId
  }
  expect(failures).toEqual([])
  expect(typed).toBeGreaterThan(10)
  sandbox.child.kill('SIGTERM')
  expect(await sandbox.ended).toBe(0)
}, 60_000)
