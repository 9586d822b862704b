import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { splitCommandLine } from '../../src/domain/wording/pasted-command.ts'
import { systemClock } from '../../src/host/clock.ts'
import { DocumentReader } from '../harness/document-reader.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { refcheck } from '../harness/run-command.ts'
import { documentText, Ids, oneLine, parseTranscripts, replaceOutputs } from '../harness/transcript.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

const root = new URL('../../', import.meta.url)
const pages = globSync('src/cli/pages/*.ts', { cwd: root }).toSorted()
const documents = [
  'README.md',
  'src/README.md',
  'src/reference/integrators.md',
  'test/bench/README.md',
  ...pages,
]

interface Manifest {
  commands: Record<string, { flags: Record<string, unknown> }>
}
const manifest = JSON.parse(documentText('oclif.manifest.json')) as Manifest

/** Returns the command lines of a document: those of transcripts, of other code, and of inline code. */
function findCommandLines(text: string): string[] {
  const indent = text.startsWith('/**') ? ' {4}.*?' : '(?:.*&& npx |.* {2})?'
  const code = [...text.matchAll(new RegExp(`^${indent}(?:\\$ )?(refcheck .*(?:\\\\\\n.*)*)$`, 'gm'))]
  const inline = [...text.matchAll(/`(refcheck [^`]+)`/g)]
  return [...code, ...inline].map(([, line = '']) => oneLine(line.replaceAll('\\\\', '\\')))
}

/** Returns the id of the command with the longest name that the words begin with. */
function findCommandId(words: readonly string[]): string | undefined {
  return [3, 2, 1]
    .map((length) => words.slice(0, length).join(':'))
    .find((id) => manifest.commands[id] !== undefined)
}

const pluginCommands = new Set(['help'])
const globalFlags = ['json', 'profile', 'no-color', 'quiet', 'verbose', 'help', 'version']

test.each(documents)('every command and flag in %s exists', (path) => {
  const problems = findCommandLines(documentText(path)).flatMap((text) => {
    const [, ...words] = splitCommandLine(
      text
        .replace(/ ;;.*$/, '')
        // The closing quote of a command line that is quoted in another command line.
        .replace(/^([^']*)'$/, '$1')
        .replace(/^((?:'[^']*'|[^'])*?) [|<>#].*$/, '$1')
        .replaceAll('…', 'X'),
      path,
    )
    if (pluginCommands.has(words[0] ?? '') || /^-|^COMMAND$/.test(words[0] ?? '')) return []
    const id = findCommandId(words)
    if (id === undefined) return [`${text}: no such command`]
    const flags = new Set([...Object.keys(manifest.commands[id]?.flags ?? {}), ...globalFlags])
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.slice(2).split('=')[0] ?? '')
      .filter((flag) => !flags.has(flag))
      .map((flag) => `${text}: no flag --${flag}`)
  })
  expect(problems).toEqual([])
})

describe('a transcript shows the real output', () => {
  test.each(documents)(
    'in %s',
    async (path) => {
      const clock = new ManualClock({ auto: true })
      const testWorld = await world({ clock, seed: 'documents' })
      const text = documentText(path)
      const transcripts = parseTranscripts(text).filter(
        ({ indent, steps }) => indent === '' || steps.some(({ output }) => output !== ''),
      )
      const outputs = await new DocumentReader(testWorld, clock).runAll(transcripts)
      await expect(replaceOutputs(text, outputs)).toMatchFileSnapshot(fileURLToPath(new URL(path, root)))
    },
    60_000,
  )
})

test('the README shows the shortened output of the demo', async () => {
  const folder = temporaryFolder()
  let printed = ''
  const { code } = await refcheck(['sandbox', 'demo'], {
    cwd: folder,
    env: emptyEnv(folder),
    clock: systemClock,
    onWrite: (_stream, text) => {
      printed += text
    },
  })
  expect(code).toBe(0)
  const [, documentedOutput = ''] = /```text\n([\s\S]*?)```/.exec(documentText('README.md')) ?? []
  expect(new Ids().addPairsIfSame(documentedOutput, printed) ? 'as shown' : printed).toBe('as shown')
}, 60_000)

test('the README has at most 250 lines', () => {
  expect(documentText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(250)
})
