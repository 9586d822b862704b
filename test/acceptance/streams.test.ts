import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { startProgram } from '../harness/process.ts'
import { keys, openTerminal } from '../harness/terminal.ts'
import { temporaryFolder, world } from '../harness/world.ts'

const binFolder = join(import.meta.dirname, '..', '..', 'bin')

test('a command whose output is not read ends with exit 0 and prints nothing on stderr', async () => {
  const { env } = await world()
  const run = startProgram(['schema', 'show', '101', '--json'], env)
  run.child.stdout?.destroy()
  expect(await run.ended).toBe(0)
  expect(run.stderr()).toBe('')
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s during a wait: exit 130 and one line',
  async (signal) => {
    const testWorld = await world()
    const created = await testWorld.run(orderArguments('Priya', ['--yes', '--json']))
    const { request_id } = created.json() as { request_id: string }
    const run = startProgram(['request', 'wait', request_id], testWorld.env)
    while (!run.stderr().includes('RECEIVED'))
      await new Promise((resolve) => run.child.stderr?.once('data', resolve))
    run.child.kill(signal)
    expect(await run.ended).toBe(130)
    expect(run.stdout()).toBe('')
    expect(run.stderr()).toMatch(/^Interrupted$/m)
  },
)

test('SIGTERM ends webhook listen with 0, Ctrl-C with 130', async () => {
  const { env } = await world()
  for (const [signal, code, expected] of [
    ['SIGTERM', 0, 'Stopped; 0 new events recorded.'],
    ['SIGINT', 130, 'Interrupted; 0 new events recorded'],
  ] as const) {
    const run = startProgram(['webhook', 'listen', '--port', '0', '--json'], env)
    while (!run.stderr().includes('Listening at'))
      await new Promise((resolve) => run.child.stderr?.once('data', resolve))
    run.child.kill(signal)
    expect({ code: await run.ended, stdout: run.stdout() }).toEqual({ code, stdout: '' })
    expect(run.stderr()).toMatch(new RegExp(`^${expected}$`, 'm'))
  }
})

test('a failure with --json prints the error document on stdout and its message as one line on stderr', async () => {
  const testWorld = await world()
  for (const [argv, hasMessage] of [
    [['schema', 'show', 'x', '--json'], true],
    [['schema', 'show', 'x', '--json', '--quiet'], false],
    [['request', 'get', 'x', '--json'], true],
  ] as const) {
    const run = await testWorld.run(argv)
    const { error } = run.json() as { error: { message: string; hint: string } }
    expect(run.stderr).toBe(hasMessage ? `Error: ${error.message}\n` : '')
  }
})

test('a warning is printed if TLS verification is off', async () => {
  const { env } = await world()
  const run = startProgram(['packages', 'list', '--json'], { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' })
  expect(await run.ended).toBe(0)
  expect(run.stderr()).toContain('Warning: NODE_TLS_REJECT_UNAUTHORIZED=0')
})

function writeEnvironmentFile(folder: string, env: Record<string, string>): string {
  const file = join(folder, 'env')
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''))
  return file
}

test('an order in a real terminal, with all values from prompts', async () => {
  const { env, folder, sandbox } = await world()
  const file = writeEnvironmentFile(folder, env)
  const terminal = await openTerminal([`--env-file=${file}`, join(binFolder, 'run.js'), 'request', 'create'])
  await terminal.until('Which package?')
  terminal.type(keys.down + keys.enter)
  for (const [question, typed] of [
    ['First name', 'Priya'],
    ['Last name', 'Shah'],
    ['Email', 'priya@example.com'],
    ['Phone', '+61 412 345 678'],
  ] as const) {
    await terminal.until(question)
    terminal.type(typed + keys.enter)
  }
  await terminal.until('Is everything correct?')
  terminal.type(keys.enter)
  await terminal.until('(y/N)')
  terminal.type(`y${keys.enter}`)
  await terminal.until('The same order as one command')
  const { code, stdout } = await terminal.ended
  expect({ code, stdout: stdout.replace(/ID|[0-9a-f-]{36}/, 'ID') }).toEqual({
    code: 0,
    stdout: 'created  ID  RECEIVED\n',
  })
  expect(sandbox.requests()).toMatchObject([
    { package_id: 102, recipient: { first_name: 'Priya', phone: '+61412345678' } },
  ])
})

test('a result that cannot be written: exit 1 with a message, and the order is made', async () => {
  const testWorld = await world()
  const order = orderArguments('Priya', ['--yes', '--json']).map((each) => `'${each}'`)
  const commandLine = `"${process.execPath}" "${join(binFolder, 'run.js')}" ${order.join(' ')} > /dev/full`
  const run = spawn('sh', ['-c', commandLine], { env: { PATH: process.env['PATH'] ?? '', ...testWorld.env } })
  let stderr = ''
  run.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  expect(await once(run, 'close')).toEqual([1, null])
  expect(stderr).toMatch(
    /Error: cannot write the result to "stdout": no space is left on the disk\nThe command itself was carried out/,
  )
  expect(testWorld.sandbox.requests()).toHaveLength(1)
})

test('a command that needs no current folder works in a folder that was removed', async () => {
  const { env, url } = await world()
  const script = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${join(binFolder, 'run.js')}" ping`
  const run = spawn('sh', ['-c', script], {
    cwd: temporaryFolder(),
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  let stdout = ''
  run.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  expect(await once(run, 'close')).toEqual([0, null])
  expect(stdout).toContain(url)
})

test('a data folder that cannot be created (/proc) ends the command with a message', async () => {
  const { env } = await world()
  const run = startProgram(['request', 'list'], { ...env, REFCHECK_DATA_DIR: '/proc/refcheck' })
  expect(await run.ended).toBe(1)
  expect(run.stderr()).toMatch(/^Error: cannot make the folder "\/proc\/refcheck": .*\n/)
})

test('Ctrl-C while an order is in flight prints that its answer is awaited', async () => {
  const testWorld = await world()
  const run = startProgram(orderArguments('Priya+hang-after'), testWorld.env)
  while (testWorld.sandbox.requests().length === 0) await setImmediate()
  run.child.kill('SIGINT')
  while (run.stderr() === '') await new Promise((resolve) => run.child.stderr?.once('data', resolve))
  expect(run.stderr()).toContain('An order is in flight; waiting for its answer.')
})

test('bin/run.js on an old Node.js prints the required version and a hint', () => {
  const oldVersionModule = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', oldVersionModule, join(binFolder, 'run.js'), 'ping'],
    {
      encoding: 'utf8',
    },
  )
  expect(status).toBe(1)
  expect(stderr).toBe(
    'refcheck needs Node 24.15 or newer; this is 20.20.2.\nInside the checkout run it as "npx refcheck", which brings its own Node,\nor install a newer one.\n',
  )
})
