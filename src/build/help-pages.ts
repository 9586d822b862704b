/*
 * Writes every help page into dist/help, as oclif prints it into a pipe. Run: npm run build
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

// Said before oclif is loaded, which would take the width of the terminal that the build runs in.
process.env['OCLIF_COLUMNS'] = '80'
const { Config } = await import('@oclif/core/config')
const { processContext } = await import('../cli/context.ts')
const { main, packageJson } = await import('../cli/main.ts')

const root = new URL('../../', import.meta.url)

const context = processContext()

async function printed(words: readonly string[]): Promise<string> {
  let text = ''
  const stdout = {
    ...context.streams.stdout,
    isTTY: false,
    write: (data: string | Uint8Array): void => {
      text += String(data)
    },
    drained: () => Promise.resolve(),
  }
  const streams = { ...context.streams, stdout }
  const code = await main([...words, '--help'], { ...context, streams }, root, { fromSource: true })
  if (code !== 0) throw new Error(`"refcheck ${words.join(' ')} --help" ended with ${code}`)
  return text
}

async function writePage(kind: 'commands' | 'topics', id: string): Promise<void> {
  const words = id === '' ? [] : id.split(':')
  const file = new URL(`dist/help/${kind}/${['refcheck', ...words].join('.')}.txt`, root)
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true })
  writeFileSync(file, await printed(words))
}

const config = await Config.load({
  root: fileURLToPath(root),
  pjson: packageJson(root, true),
  ignoreManifest: true,
})
const commands = config.commandIDs
const topics = config.topics.map(({ name }) => name).filter((name) => !commands.includes(name))
for (const id of commands) await writePage('commands', id)
for (const name of ['', ...topics]) await writePage('topics', name)
