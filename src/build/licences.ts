import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

/**
 * Licences that only require their text to be included. A package with any other licence fails the build, since a
 * person must decide on it.
 */
const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
])

/**
 * Folder of licence texts that packages should contain but do not: the package's own licence, or the licence of code
 * that is compiled into the package.
 */
const noticeFolder = join(import.meta.dirname, 'notices')

/** Name of the file with licences next to the bundled files. */
export const licenceFileName = 'THIRD-PARTY-LICENSES.txt'

export interface LicensedPackage {
  name: string
  version: string
  /** The licence as stated in the package.json. */
  licence: string
  /** All texts that must be shipped. */
  texts: string[]
}

/**
 * Whether an SPDX expression allows a choice of licences that are all in `allowedLicences`: one side of an OR, all
 * parts of an AND.
 */
export function isAllowed(expression: string): boolean {
  const withoutParentheses = expression.replaceAll(/[()]/g, '')
  return withoutParentheses
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowedLicences.has(each.trim())))
}

/** Returns the licence and notice files of a folder. */
function licenceFilesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
}

/** Returns the licence section of a README if it contains the licence itself, not a link to it. */
function licenceInReadme(folder: string): string[] {
  const readme = readdirSync(folder).find((name) => /^readme/i.test(name))
  if (readme === undefined) return []
  const [, section = ''] = readFileSync(join(folder, readme), 'utf8').split(/^#+ *licen[cs]e.*$/im)
  return /permission/i.test(section) ? [section] : []
}

/**
 * Reads the licence texts of a package and of the folders of its modules. Throws an `Error` if the package may not be
 * shipped.
 */
export function readLicence(folder: string, moduleIds: readonly string[]): LicensedPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: unknown
  }
  const licence = typeof license === 'string' ? license : JSON.stringify(license)
  if (!isAllowed(licence ?? ''))
    throw new Error(`the licence of ${name} ${version} is not allowed: ${licence}`)
  const folders = new Set([folder])
  for (const id of moduleIds)
    for (let parent = dirname(id); parent.startsWith(`${folder}/`); parent = dirname(parent))
      folders.add(parent)
  const noticeFile = join(noticeFolder, `${name}.txt`)
  const files = [
    ...[...folders].sort().flatMap(licenceFilesIn),
    ...(existsSync(noticeFile) ? [noticeFile] : []),
  ]
  const texts = files.length > 0 ? files.map((path) => readFileSync(path, 'utf8')) : licenceInReadme(folder)
  if (texts.length === 0) throw new Error(`${name} ${version} has no text of its licence`)
  return { name, version, licence, texts: texts.map((text) => text.replaceAll('\r\n', '\n').trim()) }
}

/** Returns the licences of all packages among the modules of a bundle, by name. */
export function readLicences(moduleIds: readonly string[]): LicensedPackage[] {
  const folders = new Map<string, string[]>()
  for (const id of moduleIds) {
    const folder = /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0]
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), id])
  }
  return [...folders]
    .map(([folder, ids]) => readLicence(folder, ids))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Formats licences as one text, in which packages with the same text share a section. */
export function formatLicences(introduction: string, packages: readonly LicensedPackage[]): string {
  const sections = new Map<string, string[]>()
  for (const { name, version, licence, texts } of packages) {
    const text = texts.join('\n\n')
    sections.set(text, [...(sections.get(text) ?? []), `${name} ${version} (${licence})`])
  }
  const rule = '-'.repeat(80)
  return [
    introduction,
    ...[...sections].map(([text, names]) => `${rule}\n${names.join('\n')}\n\n${text}`),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

/** Adds a file with the licences of the packages that are in the bundle. */
export function licencePlugin(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const source = formatLicences('Code of these packages is bundled into refcheck.', readLicences(modules))
      this.emitFile({ type: 'asset', fileName: licenceFileName, source })
    },
  }
}
