import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What must be seen nowhere, by what it is called. */
export type Canaries = Readonly<Record<string, string>>

/** Every file below a folder, but for those that are meant to hold a secret. */
export function canariesInFiles(folder: string, canaries: Canaries, but: RegExp): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !but.test(entry.name))
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name)
      return canariesIn(path.slice(folder.length + 1), readFileSync(path, 'latin1'), canaries)
    })
}

/** `where` and the names of those that a text holds. */
export function canariesIn(where: string, text: string, canaries: Canaries): string[] {
  const held = Object.entries(canaries).filter(([, canary]) => text.includes(canary))
  return held.map(([name]) => `${where}: ${name}`)
}

/** A script that writes its environment and the command lines of all processes into a file; for a child of ours. */
export const spyScript = (file: string): string => `
  const fs = require('fs')
  const lines = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((name) => {
    try { return fs.readFileSync('/proc/' + name + '/cmdline', 'latin1') } catch { return '' }
  })
  fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify({ env: process.env, lines }))
`
