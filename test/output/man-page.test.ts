import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { commandManifest } from '../../src/app/reference.ts'
import { manPage } from '../../src/output/views/reference.ts'
import { root } from '../house/sources.ts'

test('the manual names every command and flag of the manifest', () => {
  const manifest = commandManifest()
  const page = manPage('1.2.3', manifest, []).replaceAll(String.raw`\-`, '-')
  for (const [id, { flags, hidden }] of Object.entries(manifest)) {
    if (id === 'help' || hidden === true) continue
    expect(page).toContain(`.SS "refcheck ${id.replaceAll(':', ' ')}`)
    for (const name of Object.keys(flags)) expect(page).toContain(`.B --${name}`)
  }
  expect(page).not.toContain('refcheck complete"')
})

test('a text that roff would read as a request or an escape is printed literally', () => {
  const page = manPage('1', { x: { summary: ".a 'b' \\c", args: {}, flags: {} } }, ['TITLE\n  .nf\n'])
  expect(page).toContain(String.raw`\&.a \(aqb\(aq \ec.`)
  expect(page).toMatch(/\.SH TITLE\n\.nf\n\\&\.nf\n\.fi/)
})

test('npm installs the manual that the build writes', () => {
  const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    man: string[]
    files: string[]
  }
  expect(packageJson.man).toEqual(['./dist/man/refcheck.1'])
  expect(packageJson.files).toContain('dist')
  expect(readFileSync(join(root, 'dist/man/refcheck.1'), 'utf8')).toMatch(/^\.TH REFCHECK 1/)
})
