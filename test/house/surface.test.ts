import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { pageNames, topicPage } from '../../src/cli/topic-pages.ts'
import { usageLines } from '../../src/cli/help.ts'
import { repeatedFlags } from '../../src/domain/wording/pasted-command.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { root } from './sources.ts'

interface CommandDescription {
  flags: Record<
    string,
    { name: string; type: string; options?: string[]; multiple?: boolean; required?: boolean }
  >
  args: Record<string, { name: string; required?: boolean }>
}

const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, CommandDescription>
}
const ids = new Set(Object.keys(manifest.commands))
/** The commands of refcheck, without those of oclif. */
const commands = Object.entries(manifest.commands).filter(([id]) => !/^(help|complete)$/.test(id))

/** Returns a line for each command: its arguments and flags, without the six flags of every command. */
function listCommandLines(): string[] {
  const commonFlags = new Set(['json', 'jq', 'profile', 'no-color', 'quiet', 'verbose'])
  return commands.map(([id, { args, flags }]) => {
    const words = Object.values(args).map((arg) => (arg.required ? arg.name : `[${arg.name}]`))
    const names = Object.keys(flags).filter((name) => !commonFlags.has(name))
    return [id.replaceAll(':', ' '), ...words, ...names.sort().map((name) => `--${name}`)].join(' ')
  })
}

test('the command surface changes only on purpose: scripts rely on it', () => {
  expect(listCommandLines()).toMatchSnapshot()
})

test('the first page of help names every topic and every command of one word', async () => {
  const { stdout } = await refcheck(['help'], { env: emptyEnv(temporaryFolder()) })
  const [, list = ''] = /\nCOMMANDS\n([^]*?)\n\n/.exec(stdout) ?? []
  const words = new Set([...ids].map((id) => id.split(':')[0] ?? id))
  for (const each of ['help', 'complete']) words.delete(each)
  expect(list.trim().split(/\s+/).sort()).toEqual([...words].sort())
  expect(stdout.split('\n').length).toBeLessThanOrEqual(24)
})

test.each(commands)('%s has the six flags of the contract', (_id, { flags }) => {
  expect(Object.keys(flags)).toEqual(
    expect.arrayContaining(['jq', 'json', 'no-color', 'profile', 'quiet', 'verbose']),
  )
})

test.each(commands)(
  '%s has no flag for a key or secret, except for a file that contains it',
  (_id, { flags }) => {
    const valueFlags = Object.values(flags).filter(
      ({ type, name }) => type === 'option' && !/-file$|^tls-key$/.test(name),
    )
    expect(
      valueFlags.map(({ name }) => name).filter((name) => /key|secret|token|password/.test(name)),
    ).toEqual([])
  },
)

test.each(commands)('%s --help fits 80 columns and 80 lines, and exits with 0', async (id) => {
  const { code, stdout, stderr } = await refcheck([...id.split(':'), '--help'], {
    env: emptyEnv(temporaryFolder()),
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const examples = stdout.indexOf('\nEXAMPLES')
  const prose = examples === -1 ? stdout : stdout.slice(0, examples)
  expect(prose.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(stdout).toContain('USAGE')
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(80)
})

const topics = [...new Set(commands.flatMap(([id]) => (id.includes(':') ? [id.split(':')[0] ?? ''] : [])))]

test.each([...new Set([...topics, ...pageNames])])('help %s prints at most 80 lines in all', async (name) => {
  const { code, stdout } = await refcheck(['help', name], { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(0)
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(80)
})

test('refcheck without arguments shows where to start, on one screen; --version shows the version', async () => {
  const env = emptyEnv(temporaryFolder())
  const withoutArguments = await refcheck([], { env })
  expect(withoutArguments.code).toBe(0)
  expect(withoutArguments.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(24)
  expect(Math.max(...withoutArguments.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
  expect(withoutArguments.stdout).toContain('refcheck batch run FILE')
  expect((await refcheck(['--version'], { env })).stdout).toMatch(/^refcheck \d+\.\d+\.\d+\n$/)
})

test.each([
  [['frobnicate'], 'unknown command "frobnicate"', 'List the commands with: refcheck help'],
  [['packages', 'lst'], 'unknown command "packages lst"', 'Did you mean: refcheck packages list'],
  [['btach', 'run', 'x.csv'], 'unknown command "btach run"', 'Did you mean: refcheck batch run x.csv'],
  [
    ['batch', 'rnu', 'x y.csv', '--package', '102'],
    'unknown command "batch rnu"',
    "Did you mean: refcheck batch run 'x y.csv' --package 102",
  ],
  [['order'], 'unknown command "order"', 'Did you mean: refcheck request create'],
  [
    ['batch', 'status'],
    'BATCH_ID is required',
    'List the batches with: refcheck batch list\nShow its help with: refcheck batch status --help',
  ],
  [['login'], 'unknown command "login"', 'Did you mean: refcheck auth login'],
  [
    ['batch', 'frobnicate'],
    'unknown command "batch frobnicate"',
    'List the commands of "batch" with: refcheck help batch',
  ],
  [['help', 'fleets'], 'unknown command or page "fleets"', 'Did you mean: refcheck help fleet'],
  [
    ['auth', 'lgoin', '--api-key', 'abc'],
    'unknown command "auth lgoin"',
    'Did you mean: refcheck auth login',
  ],
  [
    ['--quiet', 'ping'],
    'the flag --quiet is before the command',
    'Put flags after the command. List the commands with: refcheck help',
  ],
  [['webhook', 'send'], '--to is required', 'Show its help with: refcheck webhook send --help'],
  [['packages', 'lst', '--help'], 'unknown command "packages lst"', 'Did you mean: refcheck packages list'],
  [
    ['packages', 'list', 'extra'],
    'unexpected argument "extra"',
    'Show its help with: refcheck packages list --help',
  ],
  [
    ['packages', 'list', '--colums', 'a'],
    'unknown flag --colums',
    'Did you mean --columns? Show its help with: refcheck packages list --help',
  ],
  [
    ['packages', 'list', '--status', 'all'],
    '--status: "all" is not one of: active, inactive, disabled',
    'Show its help with: refcheck packages list --help',
  ],
  [
    ['batch', 'cancel', '--yes=no', '5b2c8f0e'],
    '--yes takes no value',
    'Show its help with: refcheck batch cancel --help',
  ],
  [
    ['store', 'backup', 'a\0b'],
    'an argument holds a NUL character',
    'Show its help with: refcheck store backup --help',
  ],
  [
    ['batch', 'resume', '5b2c8f0e', `--max=${'9'.repeat(40)}`],
    '--max: the number is too large',
    'Show its help with: refcheck batch resume --help',
  ],
  [
    ['completion', 'ba\nsh'],
    '"ba sh" is not one of: bash, zsh, fish, powershell',
    'Show its help with: refcheck completion --help',
  ],
])('an invalid command line is refused with a hint: %j', async (argv, message, hint) => {
  const { code, stdout, stderr } = await refcheck(argv, { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(2)
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `Error: ${message}\n${hint}\n` })
})

test.each(pageNames)(
  'help %s: at most 80 lines of 80 columns, and every command in it exists',
  async (name) => {
    const { code, stdout } = await refcheck(['help', name], { env: emptyEnv(temporaryFolder()) })
    expect(code).toBe(0)
    const page = topicPage(name) ?? ''
    expect(stdout.startsWith(page)).toBe(true)
    const lines = page.split('\n')
    expect(lines.length).toBeLessThanOrEqual(80)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const commandLines = page
      .replaceAll(/\\\n\s*/g, '')
      .matchAll(/^ +\$? ?refcheck ([a-z -]+?)(?= [^a-z]|$)(.*)$/gm)
    for (const [, words = '', rest = ''] of commandLines) {
      const id = [3, 2, 1]
        .map((length) => words.split(' ').slice(0, length).join(':'))
        .find((each) => ids.has(each))
      expect([words, id]).not.toEqual([words, undefined])
      const flags = Object.keys(manifest.commands[id ?? '']?.flags ?? {})
      for (const [, flag = ''] of rest.matchAll(/--([a-z-]+)/g)) expect(flags).toContain(flag)
    }
  },
)

test.each(Object.entries(usageLines))('USAGE of %s names flags that exist', (name, lines) => {
  const flags = Object.keys(manifest.commands[name.replaceAll(' ', ':')]?.flags ?? {})
  for (const [, flag = ''] of lines.join(' ').matchAll(/--([a-z-]+)/g)) expect(flags).toContain(flag)
})

test('flags that cannot be combined: exit 2, one document with --json', async () => {
  const { code, stdout } = await refcheck(['packages', 'list', '--json', '--csv'], {
    env: emptyEnv(temporaryFolder()),
  })
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'usage' } })
})

test('every command either repeats --profile in hints, or is listed here because it has no profile', () => {
  const withoutProfile =
    'auth list, auth logout, auth switch, completion, mcp, reference, sandbox, worker'.split(', ')
  const profile = repeatedFlags.find(({ name }) => name === 'profile')?.commands ?? []
  const isIn = (list: readonly string[], name: string): boolean =>
    list.some((each) => name === each || name.startsWith(`${each} `))
  const names = commands.map(([id]) => id.replaceAll(':', ' '))
  expect(names.filter((name) => isIn(profile, name) === isIn(withoutProfile, name))).toEqual([])
})
