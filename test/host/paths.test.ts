import { userInfo } from 'node:os'

import { expect, test } from 'vitest'

import { RelativeFolderError, resolvePaths } from '../../src/host/paths.ts'

test('each platform has its own default folders, and variables of the environment override them', () => {
  const home = { HOME: '/home/ana' }
  expect(resolvePaths(home, 'linux')).toEqual({
    config: '/home/ana/.config/refcheck',
    data: '/home/ana/.local/share/refcheck',
  })
  expect(resolvePaths({ ...home, XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, 'linux')).toEqual({
    config: '/c/refcheck',
    data: '/d/refcheck',
  })
  const support = '/home/ana/Library/Application Support/refcheck'
  expect(resolvePaths(home, 'darwin')).toEqual({ config: support, data: `${support}/data` })
  const windows = { APPDATA: 'C:\\Users\\Ana\\AppData\\Roaming', LOCALAPPDATA: 'D:\\Local' }
  expect(resolvePaths(windows, 'win32')).toEqual({
    config: 'C:\\Users\\Ana\\AppData\\Roaming\\refcheck',
    data: 'D:\\Local\\refcheck',
  })
  expect(resolvePaths({ USERPROFILE: 'C:\\Users\\Ana' }, 'win32')).toEqual({
    config: 'C:\\Users\\Ana\\AppData\\Roaming\\refcheck',
    data: 'C:\\Users\\Ana\\AppData\\Local\\refcheck',
  })
  const overrides = { REFCHECK_CONFIG_DIR: '/one', REFCHECK_DATA_DIR: '/two' }
  expect(resolvePaths({ ...home, ...overrides }, 'linux')).toEqual({ config: '/one', data: '/two' })
})

test.each(['linux', 'win32'] as const)('a relative path in the environment of %s is ignored', (platform) => {
  const home = platform === 'win32' ? { USERPROFILE: 'C:\\Users\\Ana' } : { HOME: '/home/ana' }
  const relative = {
    XDG_CONFIG_HOME: 'config',
    XDG_DATA_HOME: './data',
    APPDATA: 'config',
    LOCALAPPDATA: '..\\data',
  }
  expect(resolvePaths({ ...home, ...relative }, platform)).toEqual(resolvePaths(home, platform))
})

test.each(['refcheck', './data', '../data', '~/data'])('REFCHECK_DATA_DIR=%s is refused', (path) => {
  const env = { HOME: '/home/ana', REFCHECK_DATA_DIR: path }
  expect(() => resolvePaths(env, 'linux')).toThrow(RelativeFolderError)
  expect(() => resolvePaths({ REFCHECK_CONFIG_DIR: '\\a', REFCHECK_DATA_DIR: 'C:data' }, 'win32')).toThrow(
    RelativeFolderError,
  )
})

test('a relative HOME is ignored, and the home folder of the account is used', () => {
  const { homedir } = userInfo()
  expect(resolvePaths({ HOME: 'home' }, 'linux')).toEqual(resolvePaths({ HOME: homedir }, 'linux'))
})
