import { spawn, spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { basename, join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')
const samples = join(root, 'src', 'reference', 'receivers')
const secret = 'whsec-of-a-sample'
const route = join(import.meta.dirname, 'serve-route.ts')

/** The command that starts each sample receiver, and arguments that check whether its runtime is installed. */
const sampleCommands: Record<string, { command: string; argv: string[]; needs?: string[] }> = {
  'node-http.js': { command: process.execPath, argv: ['node-http.js'] },
  'express.js': { command: process.execPath, argv: ['express.js'] },
  'fastify.js': { command: process.execPath, argv: ['fastify.js'] },
  'hono.js': { command: process.execPath, argv: ['hono.js'] },
  // A route is a function of a Request, so Next.js itself is not installed.
  'next-route.js': { command: process.execPath, argv: [route, join(samples, 'next-route.js')] },
  'flask_receiver.py': { command: 'python3', argv: ['flask_receiver.py'], needs: ['-c', 'import flask'] },
  'receiver.php': { command: 'php', argv: ['-S', '127.0.0.1:PORT', 'receiver.php'], needs: ['--version'] },
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Whether a process listens at a port. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy().destroyed))
    socket.on('error', () => resolve(false))
  })
}

test('each sample receiver has a command', () => {
  const files = globSync('*', { cwd: samples }).filter((name) => name !== 'receive.js')
  expect(Object.keys(sampleCommands).sort()).toEqual(files.sort())
})

test.each(Object.entries(sampleCommands))('check-receiver finds no fault in %s', async (name, sample) => {
  if (sample.needs !== undefined && spawnSync(sample.command, sample.needs).status !== 0) {
    console.log(`${basename(name)}: not tried, its runtime is not on this machine`)
    return
  }
  const port = await freePort()
  const folder = temporaryFolder()
  const argv = sample.argv.map((word) => word.replace('PORT', `${port}`))
  const receiver = spawn(sample.command, argv, {
    cwd: samples,
    env: {
      PATH: process.env['PATH'],
      PORT: `${port}`,
      REFCHECK_WEBHOOK_SECRET: secret,
      EVENTS: folder,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: 'ignore',
  })
  onTestFinished(() => void receiver.kill('SIGKILL'))
  await expect.poll(() => isOpen(port), { timeout: 30_000 }).toBe(true)
  const line = ['webhook', 'check-receiver', `http://127.0.0.1:${port}/`, '--strict', '--json']
  const { stdout } = spawnSync(process.execPath, [join(root, 'bin', 'run.js'), ...line], {
    env: { ...emptyEnv(folder), REFCHECK_WEBHOOK_SECRET: secret },
    encoding: 'utf8',
  })
  const report = JSON.parse(stdout) as { passed: boolean; cases: { id: string; verdict: string }[] }
  // Stored events, and the time of a comparison, cannot be checked by answers.
  const notVisible = /^(?:stored-.*|constant-time)$/
  const checkedCases = report.cases.filter(
    ({ id, verdict }) => verdict !== 'not_judged' || !notVisible.test(id),
  )
  expect(checkedCases.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
  expect(report).toMatchObject({ passed: true })
})

test('the sample test suite of the documentation passes in Jest', () => {
  const folder = temporaryFolder()
  const npm = (...argv: string[]) => spawnSync('npm', argv, { cwd: folder, encoding: 'utf8' })
  writeFileSync(join(folder, 'package.json'), '{}')
  const packedFile = spawnSync('npm', ['pack', '--silent', `--pack-destination=${folder}`], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.trim()
  const install = ['install', '--no-audit', '--no-fund', '--omit=optional']
  if (npm(...install, 'jest@30.5.2').status !== 0) {
    console.log('Jest: not tried, the npm registry was not reached')
    return
  }
  expect(npm(...install, `./${packedFile}`)).toMatchObject({ status: 0 })
  const suite = readFileSync(join(root, 'src', 'reference', 'tests', 'suite.ts.txt'), 'utf8')
  const script = suite
    .replace(/^.*'vitest'\n/m, '')
    .replace('type Sandbox, ', '')
    .replace(': Sandbox', '')
  writeFileSync(join(folder, 'orders.test.mjs'), script)
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--testMatch', '**/*.test.mjs']
  const { stderr } = spawnSync(process.execPath, jest, { cwd: folder, encoding: 'utf8' })
  expect(stderr).toMatch(/^Tests: +3 passed, 3 total$/m)
})
