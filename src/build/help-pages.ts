/* Writes all help pages into dist/help, as oclif prints them without a terminal. Run: npm run build */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

// Set before oclif is loaded, which would otherwise use the width of the build's terminal.
process.env['OCLIF_COLUMNS'] = '80'
const { Config } = await import('@oclif/core/config')
const { processContext } = await import('../app/context.ts')
const { main, readPackageJson } = await import('../cli/main.ts')
const { pageNames } = await import('../cli/topic-pages.ts')

const root = new URL('../../', import.meta.url)

const context = processContext()

async function printPage(args: readonly string[]): Promise<string> {
  let text = ''
  const stdout = {
    ...context.streams.stdout,
    isTTY: false,
    write: (data: string | Uint8Array): void => {
      text += String(data)
    },
    drain: () => Promise.resolve(),
  }
  const streams = { ...context.streams, stdout }
  const code = await main(args, { ...context, streams }, root, { fromSource: true })
  if (code !== 0) throw new Error(`"refcheck ${args.join(' ')}" ended with ${code}`)
  return text
}

async function writePage(kind: 'commands' | 'topics' | 'pages', id: string): Promise<void> {
  const words = id === '' ? [] : id.split(':')
  const file = new URL(`dist/help/${kind}/${['refcheck', ...words].join('.')}.txt`, root)
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true })
  writeFileSync(file, await printPage(kind === 'pages' ? ['help', ...words] : [...words, '--help']))
}

const config = await Config.load({
  root: fileURLToPath(root),
  pjson: readPackageJson(root, true),
  ignoreManifest: true,
})
const commands = config.commandIDs
const topics = config.topics.map(({ name }) => name).filter((name) => !commands.includes(name))
for (const id of commands) await writePage('commands', id)
for (const name of ['', ...topics]) await writePage('topics', name)
for (const name of pageNames.filter((each) => !topics.includes(each))) await writePage('pages', name)
