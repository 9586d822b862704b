import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

/** Licences that ask for no more than that their text travels along. Another one is a decision, and fails the build. */
const allowed = new Set(['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'])

/** Texts that a package's own files lack: a licence that is not packed, and that of code compiled into it. */
const noticeFolder = join(import.meta.dirname, 'notices')

/** Name of the file next to what was bundled. */
export const licenceFile = 'THIRD-PARTY-LICENSES.txt'

export interface Licensed {
  name: string
  version: string
  /** As its package.json has it. */
  licence: string
  /** Everything that has to travel along. */
  texts: string[]
}

/** Whether an SPDX expression leaves us a licence on the list: one side of an OR, each part of an AND. */
export function isAllowed(expression: string): boolean {
  const bare = expression.replaceAll(/[()]/g, '')
  return bare.split(' OR ').some((choice) => choice.split(' AND ').every((each) => allowed.has(each.trim())))
}

/** Licence and notice files of one folder. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
}

/** The section of a README that is the licence, where it is one and not a link to it. */
function licenceInReadme(folder: string): string[] {
  const readme = readdirSync(folder).find((name) => /^readme/i.test(name))
  if (readme === undefined) return []
  const [, section = ''] = readFileSync(join(folder, readme), 'utf8').split(/^#+ *licen[cs]e.*$/im)
  return /permission/i.test(section) ? [section] : []
}

/** A package with the licences of the folders that its modules are in. Throws an `Error` where it may not be shipped. */
export function licenceOf(folder: string, modules: readonly string[]): Licensed {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: unknown
  }
  const licence = typeof license === 'string' ? license : JSON.stringify(license)
  if (!isAllowed(licence ?? ''))
    throw new Error(`the licence of ${name} ${version} is not allowed: ${licence}`)
  const folders = new Set([folder])
  for (const id of modules)
    for (let at = dirname(id); at.startsWith(`${folder}/`); at = dirname(at)) folders.add(at)
  const own = join(noticeFolder, `${name}.txt`)
  const files = [...[...folders].sort().flatMap(filesOf), ...(existsSync(own) ? [own] : [])]
  const texts = files.length > 0 ? files.map((path) => readFileSync(path, 'utf8')) : licenceInReadme(folder)
  if (texts.length === 0) throw new Error(`${name} ${version} has no text of its licence`)
  return { name, version, licence, texts: texts.map((text) => text.replaceAll('\r\n', '\n').trim()) }
}

/** Every package among the modules of a bundle, by name. */
export function licencesOf(modules: readonly string[]): Licensed[] {
  const folders = new Map<string, string[]>()
  for (const id of modules) {
    const folder = /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0]
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), id])
  }
  return [...folders]
    .map(([folder, ids]) => licenceOf(folder, ids))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** One text, where packages with the same licence and holder share a section. */
export function licenceText(about: string, packages: readonly Licensed[]): string {
  const sections = new Map<string, string[]>()
  for (const { name, version, licence, texts } of packages) {
    const text = texts.join('\n\n')
    sections.set(text, [...(sections.get(text) ?? []), `${name} ${version} (${licence})`])
  }
  const rule = '-'.repeat(80)
  return [about, ...[...sections].map(([text, names]) => `${rule}\n${names.join('\n')}\n\n${text}`), '']
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

/** Writes the licences of what is really bundled next to it. */
export function licencePlugin(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const source = licenceText('Code of these packages is bundled into refcheck.', licencesOf(modules))
      this.emitFile({ type: 'asset', fileName: licenceFile, source })
    },
  }
}
