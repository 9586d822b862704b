/*
 * Writes dist/man/refcheck.1 of oclif.manifest.json; npm puts it where man looks. Run: npm run build
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { topicPage } from '../cli/topic-pages.ts'
import { commandManifest } from '../compose/reference.ts'
import { manPage } from '../output/views/man-page.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'dist', 'man')

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const pages = ['exit-codes', 'environment'].flatMap((name) => topicPage(name) ?? [])
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'refcheck.1'), manPage(version, commandManifest(), pages))
