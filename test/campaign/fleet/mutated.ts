import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Replaces the first occurrence of the text `from` in a source file by `to`. */
export interface Edit {
  path: string
  from: string
  to: string
}

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * The program with these edits in its sources. It is built in a temporary folder, so that it starts as quickly
 * as the shipped program.
 */
export class MutatedProgram implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'refcheck-mutated-'))

  constructor(edits: readonly Edit[]) {
    for (const name of ['src', 'bin', 'package.json', 'oclif.manifest.json'])
      cpSync(join(root, name), join(this.#folder, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'))
    for (const { path, from, to } of edits) {
      const text = readFileSync(join(root, path), 'utf8')
      if (!text.includes(from)) throw new Error(`${path} does not contain "${from}" any more`)
      writeFileSync(
        join(this.#folder, path),
        text.replace(from, () => to),
      )
    }
    const bundle = join(this.#folder, 'src', 'build', 'bundle.ts')
    const { status, stderr } = spawnSync(process.execPath, [bundle], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the mutated program cannot be built: ${stderr}`)
  }

  get program(): string {
    return join(this.#folder, 'bin', 'run.js')
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}
