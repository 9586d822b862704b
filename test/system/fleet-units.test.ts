import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'

import page from '../../src/cli/pages/fleet.ts'
import { createStore } from '../harness/create-store.ts'
import { Cluster } from '../harness/postgres-cluster.ts'
import { program } from '../harness/program.ts'
import { temporaryFolder, world } from '../harness/world.ts'

/** Returns the text below a heading of `refcheck help fleet`, without its indentation. */
function textBelow(heading: string): string {
  const [, text = ''] = new RegExp(`^${heading}\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(page) ?? []
  return text.replaceAll(/^ {4}/gm, '')
}

const isAvailable = (command: string, argv: readonly string[]): boolean =>
  spawnSync(command, argv, { stdio: 'ignore' }).status === 0

/** Starts a worker with a command line and a new store, and ends it with SIGTERM. */
async function runWorker(line: string): Promise<{ health: number; code: number | null }> {
  const cluster = await Cluster.start()
  onTestFinished(() => cluster.stop())
  const url = cluster.url(await cluster.create())
  await createStore(url)
  const { env, folder } = await world()
  const [command = '', ...argv] = line.replace('9400', '0').split(' ')
  expect(command).toMatch(/(?:^|\/)refcheck$/)
  const worker = spawn(process.execPath, [program, ...argv], {
    env: { ...env, PATH: process.env['PATH'], REFCHECK_STORE: url, REFCHECK_CONFIG_DIR: join(folder, 'own') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void worker.kill('SIGKILL'))
  let log = ''
  const workerUrl = Promise.withResolvers<string>()
  worker.stdout.on('data', (chunk: Buffer) => {
    log += chunk.toString()
    const [, address] = /"url":\s*"([^"]+)"/.exec(log) ?? []
    if (address !== undefined) workerUrl.resolve(address.replace('0.0.0.0', '127.0.0.1'))
  })
  const { status: health } = await fetch(new URL('/healthz', await workerUrl.promise))
  worker.kill('SIGTERM')
  const [code] = (await once(worker, 'close')) as [number | null]
  return { health, code }
}

test('the systemd unit of help fleet is valid, and the worker that it starts runs until it is stopped', async () => {
  const unit = textBelow('SYSTEMD')
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
  expect(await runWorker(line)).toEqual({ health: 200, code: 0 })
  if (!isAvailable('systemd-analyze', ['--version'])) {
    console.log('systemd-analyze verify: not tried, it is not on this machine')
    return
  }
  const folder = temporaryFolder()
  const file = join(folder, 'refcheck-worker.service')
  // The program does not have to be installed on this machine.
  writeFileSync(file, unit.replace('/usr/bin/refcheck', '/bin/true'))
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
  })
  const ownMessages = `${stdout}${stderr}`.split('\n').filter((each) => each.includes('refcheck-worker'))
  expect([status, ownMessages]).toEqual([0, []])
})

test('the compose file of help fleet is valid, and the worker that it starts runs until it is stopped', async () => {
  const text = textBelow('COMPOSE')
  const file = parse(text) as { services: Record<string, { command?: string }> }
  expect(Object.keys(file.services)).toEqual(['db', 'worker'])
  expect(await runWorker(file.services['worker']?.command ?? '')).toEqual({ health: 200, code: 0 })
  if (!isAvailable('docker', ['compose', 'version'])) {
    console.log('docker compose config: not tried, Docker Compose is not on this machine')
    return
  }
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'compose.yaml'), text)
  for (const name of ['db.env', 'secrets.env']) writeFileSync(join(folder, name), '')
  const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
})
