import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Replaces the code of the first script in the compile cache `file` by code that writes `poisoned` to stderr. */
export function plantCode(file: string): void {
  const cacheBytes = readFileSync(file)
  const roundUpToEight = (bytes: number): number => Math.ceil(bytes / 8) * 8
  const start = roundUpToEight(8 + cacheBytes.readUInt32LE(0))
  const contents = JSON.parse(cacheBytes.toString('utf8', 8, start)) as {
    scripts: [path: string, bytes: number][]
  }
  const [first, ...rest] = contents.scripts
  if (first === undefined) throw new Error('no code is cached')
  const [path, bytes] = first
  // V8 checks only the length of the source, so it accepts cached code of another source with the same length.
  const script = `const { Script } = require('node:vm')
    const { wrap } = require('node:module')
    const [length, code] = [require('node:fs').readFileSync(process.argv[1], 'utf8').length, process.argv[2]]
    const script = new Script(wrap(code.padEnd(length)))
    script.runInThisContext()({}, () => ({ writeSync: () => undefined }))
    process.stdout.write(script.createCachedData())`
  const code = `require('node:fs').writeSync(2, 'poisoned')`
  const { stdout } = spawnSync(process.execPath, ['-e', script, join(root, 'dist', path), code])
  const text = Buffer.from(JSON.stringify({ ...contents, scripts: [[path, stdout.length], ...rest] }))
  const head = Buffer.alloc(roundUpToEight(8 + text.length), ' ')
  head.writeUInt32LE(text.length)
  text.copy(head, 8)
  const padding = Buffer.alloc(roundUpToEight(stdout.length) - stdout.length)
  writeFileSync(
    file,
    Buffer.concat([head, stdout, padding, cacheBytes.subarray(start + roundUpToEight(bytes))]),
  )
}
