import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { launcherFor, readLockedPackage, parsePlatform, platforms } from '../../src/build/platforms.ts'
import { root } from '../house/sources.ts'

test('a platform is given by --platform, and the error for an unknown one lists all platforms', () => {
  expect(parsePlatform(['--platform', 'win32-x64'])).toBe('win32-x64')
  for (const argv of [['--platform', 'win32-arm64'], ['win32-x64'], ['--platform', 'win32-x64', 'x']])
    expect(() => parsePlatform(argv)).toThrow(
      'use: npm run package -- --platform linux-x64|linux-arm64|win32-x64|darwin-x64|darwin-arm64',
    )
})

test('the Node of each platform is new enough for the program, and its keychain is of the version in the lockfile', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  expect(engines.node).toBe('>=24.15')
  const { version } = readLockedPackage(root, '@napi-rs/keyring')
  for (const { node, keychain } of Object.values(platforms)) {
    const [major = 0, minor = 0] = node.version.split('.').map(Number)
    expect(major > 24 || (major === 24 && minor >= 15)).toBe(true)
    expect(readLockedPackage(root, `@napi-rs/keyring-${keychain}`)).toMatchObject({ version })
  }
})

test('the launcher of Windows ends its lines with CRLF, quotes its own folder, and ends before Node starts', () => {
  const { name, text, node } = launcherFor('win32-x64')
  expect([name, node]).toEqual(['refcheck.cmd', 'node.exe'])
  expect(text.replaceAll('\r\n', '')).not.toContain('\n')
  expect(text).toContain('set "here=%~dp0"\r\n')
  expect(text).toMatch(/ \|\| title %COMSPEC% & "%here%node\.exe" "%here%\.\.\\lib\\bin\\run\.js" %\*\r\n$/)
})
