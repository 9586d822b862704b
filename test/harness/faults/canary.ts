import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** Secret texts that no output may contain, by name. */
export type Canaries = Readonly<Record<string, string>>

/**
 * Finds canaries in the files below a folder. A file whose name matches `except` may contain a secret, and is not read.
 */
export function findCanariesInFiles(folder: string, canaries: Canaries, except: RegExp): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !except.test(entry.name))
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name)
      return findCanaries(path.slice(folder.length + 1), readFileSync(path, 'latin1'), canaries)
    })
}

/** Returns the names of the canaries that a text contains, plain or encoded, each with the prefix `where`. */
export function findCanaries(where: string, text: string, canaries: Canaries): string[] {
  const forms = readableForms(text)
  const found = Object.entries(canaries).filter(([, canary]) => forms.some((form) => form.includes(canary)))
  return found.map(([name]) => `${where}: ${name}`)
}

/** Decodes a text in the usual ways. It does not use the program's own decoding, which it checks. */
function readableForms(text: string): string[] {
  const utf8 = Buffer.from(text, 'latin1').toString()
  const decoded = [text, ...(utf8 === text ? [] : [utf8])].flatMap((each) => {
    const forms = [each]
    for (let level = 0; level < 4; level += 1) {
      const next = decodeOnce(forms.at(-1) ?? '')
      if (next === forms.at(-1)) break
      forms.push(next)
    }
    return forms
  })
  return decoded.concat(decoded.flatMap(decodeBytes))
}

function decodeOnce(text: string): string {
  const character = (code: number): string => (code < 0x11_00_00 ? String.fromCodePoint(code) : '')
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\p{Cf}\uFFFD]/gu, '')
    .normalize('NFKC')
    .replace(/\\+u([\da-f]{4})/gi, (_all, code: string) => character(Number.parseInt(code, 16)))
    .replace(/\\+x([\da-f]{2})/gi, (_all, code: string) => character(Number.parseInt(code, 16)))
    .replace(/\\+([0-3][0-7]{2})/g, (_all, code: string) => character(Number.parseInt(code, 8)))
    .replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (_all, code: string | undefined, decimal: string) =>
      character(code === undefined ? Number(decimal) : Number.parseInt(code, 16)),
    )
}

/** Decodes runs of hexadecimal and base64, from each position where a byte may begin. */
function decodeBytes(text: string): string[] {
  const hexadecimal = (text.match(/[\da-f]{12,}/gi) ?? []).flatMap((run) =>
    [0, 1].map((at) => Buffer.from(run.slice(at), 'hex').toString('latin1')),
  )
  const base64 = (text.match(/[\w+/-]{12,}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), 'base64').toString('latin1')),
  )
  return [hexadecimal.join('\n'), base64.join('\n')]
}

/**
 * Returns a script for a child process that writes its environment, and the command lines of all processes, to
 * a file.
 */
export const spyScript = (file: string): string => `
  const fs = require('fs')
  const lines = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((name) => {
    try { return fs.readFileSync('/proc/' + name + '/cmdline', 'latin1') } catch { return '' }
  })
  fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify({ env: process.env, lines }))
`
