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

/** Command lines of a document, of its transcripts, its other code, and its running text. */
function everyCommand(text: string): string[] {
  const indent = text.startsWith('/**') ? ' {4}.*?' : '(?:.*&& npx |.* {2})?'
  const code = [...text.matchAll(new RegExp(`^${indent}(?:\\$ )?(refcheck .*(?:\\\\\\n.*)*)$`, 'gm'))]
  const inline = [...text.matchAll(/`(refcheck [^`]+)`/g)]
  return [...code, ...inline].map(([, line = '']) => oneLine(line.replaceAll('\\\\', '\\')))
}

/** The longest name of a command that the words begin with. */
function commandOf(words: readonly string[]): string | undefined {
  return [3, 2, 1]
    .map((length) => words.slice(0, length).join(':'))
    .find((id) => manifest.commands[id] !== undefined)
}

const ofPlugins = new Set(['help'])
const globalFlags = ['json', 'profile', 'no-color', 'quiet', 'verbose', 'help', 'version']

test.each(documents)('every command and flag in %s is there', (path) => {
  const wrong = everyCommand(documentText(path)).flatMap((text) => {
    const [, ...words] = splitCommandLine(
      text
        .replace(/ ;;.*$/, '')
        // One that stands in another command's quotes.
        .replace(/^([^']*)'$/, '$1')
        .replace(/^((?:'[^']*'|[^'])*?) [|<>#].*$/, '$1')
        .replaceAll('…', 'X'),
      path,
    )
    if (ofPlugins.has(words[0] ?? '') || /^-|^COMMAND$/.test(words[0] ?? '')) return []
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

describe('a transcript shows what is printed', () => {
  test.each(documents)(
    'in %s',
    async (path) => {
      const clock = new ManualClock({ auto: true })
      const here = await world({ clock, seed: 'documents' })
      const text = documentText(path)
      const found = parseTranscripts(text).filter(
        ({ indent, steps }) => indent === '' || steps.some(({ output }) => output !== ''),
      )
      const read = await new DocumentReader(here, clock).runAll(found)
      await expect(replaceOutputs(text, read)).toMatchFileSnapshot(fileURLToPath(new URL(path, root)))
    },
    60_000,
  )
})

test('the README shows what the demo prints, shortened', async () => {
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
  const [, shown = ''] = /```text\n([\s\S]*?)```/.exec(documentText('README.md')) ?? []
  expect(new Ids().agree(shown, printed) ? 'as shown' : printed).toBe('as shown')
}, 60_000)

test('the README is a page to start with', () => {
  expect(documentText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(250)
})
