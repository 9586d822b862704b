import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'

import { beforeAll, expect, onTestFinished, test } from 'vitest'

import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')
let file = ''

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'src', 'build', 'package.ts')], { stdio: 'ignore' })
  file = globSync(join(root, 'package', '*.tar.gz'))[0] ?? ''
})

/** Unpacks the file as a person would; the program in it. */
function unpacked(folder: string): string {
  execFileSync('tar', ['-xzf', file, '-C', folder])
  return join(folder, 'refcheck', 'bin', 'refcheck')
}

test('one file, under 60 MB', () => {
  expect(statSync(file).size).toBeLessThan(60e6)
})

test('it runs where there is no Node, from a link too', () => {
  const folder = temporaryFolder()
  const program = unpacked(folder)
  const env = { PATH: '/nowhere', ...emptyEnv(folder) }
  const said = (command: string, argv: string[], more = {}) => {
    const { status, stdout, stderr } = spawnSync(command, argv, { env: { ...env, ...more } })
    return { status, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  expect(said('/bin/sh', ['-c', 'command -v node'])).toMatchObject({ stdout: '' })
  expect(said(program, ['--version'])).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^refcheck \d/),
    stderr: '',
  })
  expect(said(program, ['batch', '--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('batch run'),
  })
  expect(said(program, ['packages', 'list'])).toMatchObject({ status: 3, stdout: '' })
  const links = join(folder, 'bin')
  mkdirSync(links)
  symlinkSync('../refcheck/bin/refcheck', join(links, 'rc'))
  expect(said(join(links, 'rc'), ['config', 'list', '--json'], { PATH: '/usr/bin:/bin' })).toMatchObject({
    status: 0,
  })
})

test('it is the whole program: its own sandbox, an order there, and the same order refused', async () => {
  const folder = temporaryFolder()
  const program = unpacked(folder)
  const env = { PATH: '/nowhere', ...emptyEnv(folder) }
  const sandbox = spawn(program, ['sandbox', 'start', '--port', '0', '--json'], { env })
  onTestFinished(() => void sandbox.kill('SIGKILL'))
  const [told] = (await once(sandbox.stdout, 'data')) as [Buffer]
  const { base_url, api_key, user_email } = JSON.parse(told.toString()) as Record<string, string>
  const service = { REFCHECK_BASE_URL: base_url, REFCHECK_API_KEY: api_key, REFCHECK_USER_EMAIL: user_email }
  const person = [
    '--first-name',
    'Ana',
    '--last-name',
    'Lima',
    '--email',
    'ana.lima@example.com',
    '--phone',
    '+61412345678',
  ]
  const order = () =>
    spawnSync(program, ['request', 'create', '--package', '102', ...person, '--yes', '--json'], {
      env: { ...env, ...service },
    })
  const first = order()
  expect({ status: first.status, stderr: first.stderr.toString() }).toMatchObject({ status: 0 })
  expect(JSON.parse(first.stdout.toString())).toHaveProperty('request_id')
  expect(order().status).toBe(2)
})
