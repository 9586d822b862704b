import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { startHandlerApp } from '../harness/listening-session.ts'
import { listPdfs } from '../harness/orders.ts'
import { orderArguments } from '../harness/people.ts'
import { orderBody } from '../harness/agent-plans.ts'
import { type RunningProgram, startProgram } from '../harness/process.ts'
import { refcheck } from '../harness/run-command.ts'
import { envOfReadyLine } from '../harness/service-env.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

const faultRow = recordForFaultTable('upgrade', { mustNotHappen: 'paths that failed' })

/** Copies the program to a folder. Returns its path, and a function that removes all files, as an upgrade does. */
function install(): { program: string; remove: () => void } {
  const root = join(import.meta.dirname, '..', '..')
  const app = join(temporaryFolder(), 'app')
  for (const part of ['bin', 'dist', 'package.json', 'oclif.manifest.json'])
    cpSync(join(root, part), join(app, part), { recursive: true })
  return { program: join(app, 'bin', 'run.js'), remove: () => rmSync(app, { recursive: true }) }
}

const waitForText = async (run: RunningProgram, text: string): Promise<void> => {
  while (!run.stderr().includes(text)) await new Promise((resolve) => run.child.stderr?.once('data', resolve))
}

test('a sandbox whose program is removed serves every path', async () => {
  const { program, remove } = install()
  const handler = await startHandlerApp()
  const argv = [
    'sandbox',
    'start',
    '--port',
    '0',
    '--json',
    '--speed',
    '100000',
    '--webhook-url',
    handler.url,
  ]
  const sandbox = startProgram(argv, emptyEnv(temporaryFolder()), { program })
  const service = envOfReadyLine(await sandbox.until('\n'))
  remove()
  const folder = temporaryFolder()
  const url = service['REFCHECK_BASE_URL'] ?? ''
  const env = { ...emptyEnv(folder), ...service }
  writePeopleFile(folder, createEmails(2))
  const lines = [
    'ping',
    'packages list',
    'users list',
    'schema show 101',
    'batch run people.csv --package 102 --yes',
    'request wait --batch 1 --for report',
    'report sync --output reports',
    'sandbox state',
    'sandbox logs',
    'sandbox rules',
    'sandbox scenarios',
    'sandbox set credits 3',
    'sandbox inject 500 --times 1',
    'sandbox reset',
  ]
  const failed: string[] = []
  for (const line of lines) {
    const { code, stderr } = await refcheck(line.split(' '), { env, cwd: folder })
    // Exit 2 means a wrong command line of this test, and is no failure of the sandbox.
    if (code === 1 || code === 7) failed.push(`${line}: ${stderr}`)
  }
  for (const path of ['/', '/openapi.json', '/sandbox', '/nowhere']) {
    const { status } = await fetch(url + path)
    if (status >= 500) failed.push(`${path}: ${status}`)
  }
  faultRow.countCases(lines.length + 4, lines.length + 4 - failed.length)
  expect(failed).toEqual([])
  expect(listPdfs(join(folder, 'reports'))).toHaveLength(2)
  expect(handler.acceptedDeliveries.length).toBeGreaterThan(0)
  sandbox.child.kill('SIGTERM')
  expect(await sandbox.ended).toBe(0)
})

test('a receiver whose program is removed stores, forwards, refuses and ends without an error', async () => {
  const { program, remove } = install()
  const { env } = await world()
  const handler = await startHandlerApp()
  handler.answers.push(503)
  const secret = env['REFCHECK_WEBHOOK_SECRET'] ?? ''
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'cat.cjs'),
    `process.stdin.pipe(require('fs').createWriteStream(process.argv[2]))`,
  )
  const exec = `"${process.execPath}" ${join(folder, 'cat.cjs')} ${join(folder, 'out.json')}`
  const argv = ['webhook', 'listen', '--port', '0', '--forward-to', handler.url, '--exec', exec, '--json']
  const receiver = startProgram(argv, env, { program })
  await waitForText(receiver, 'Listening at')
  const url = /Listening at (\S+)/.exec(receiver.stderr())?.[1] ?? ''
  remove()
  const [firstRequestId, secondRequestId] = requestIds as [string, string]
  expect(await postDelivery(url, secret, { body: eventBody(firstRequestId) })).toBe(204)
  expect(await postDelivery(url, `${secret}x`, { body: eventBody(secondRequestId) })).toBe(401)
  expect(await postDelivery(url, secret, { body: eventBody(firstRequestId) })).toBe(204)
  while (handler.acceptedDeliveries.length === 0) await new Promise(setImmediate)
  receiver.child.kill('SIGINT')
  expect(await receiver.ended).toBe(130)
  expect(readFileSync(join(folder, 'out.json'), 'utf8')).toContain(firstRequestId)
  expect(receiver.stderr()).not.toContain('internal error')
})

test('a worker whose program is removed orders, downloads reports and answers health checks', async () => {
  const { program, remove } = install()
  const here = await world({ speed: 100_000 })
  const flags = ['--output', 'reports', '--health-port', '0', '--refresh', '1s']
  const worker = startProgram(['worker', ...flags], here.env, { program, cwd: here.folder })
  const { url } = JSON.parse(
    (await worker.until('"health"')).split('\n').find((line) => line.includes('"health"')) ?? '{}',
  ) as { url: string }
  remove()
  writePeopleFile(here.folder, createEmails(2))
  expect((await here.run(['batch', 'queue', 'people.csv', '--package', '102', '--yes'])).code).toBe(0)
  await worker.until('"batch-ended"')
  for (const path of ['/healthz', '/readyz', '/metrics']) expect((await fetch(url + path)).status).toBe(200)
  const reports = join(here.folder, 'reports')
  while (!existsSync(reports) || listPdfs(reports).length < 2)
    await new Promise((resolve) => worker.child.stdout?.once('data', resolve))
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
  expect(worker.stdout()).not.toContain('internal error')
}, 60_000)

test('an agent’s server whose program is removed answers every tool', async () => {
  const { program, remove } = install()
  const here = await world()
  writePeopleFile(here.folder, createEmails(2))
  await here.run(orderArguments('Mei'))
  await here.run(['batch', 'run', 'people.csv', '--package', '102', '--yes'])
  const [batch] = (await here.run(['batch', 'list', '--json'])).json() as { batch_id: string }[]
  const request_ids = here.sandbox.requests().map(({ request_id }) => request_id)
  const body = JSON.parse(orderBody('Priya')) as { recipient: unknown }
  const inputs: Record<string, Record<string, unknown>> = {
    get_package_schema: { package_id: 101 },
    validate_order: { body },
    get_requests: { request_ids },
    get_batch: { batch_id: batch?.batch_id },
    list_batch_rows: { batch_id: batch?.batch_id },
    validate_file: { file: 'people.csv', package_id: 102 },
    plan_order: { body },
    plan_people: { package_id: 102, people: [{ recipient: body.recipient }] },
    plan_file: { file: 'people.csv', package_id: 101 },
    file_reports: { request_ids },
  }
  const client = new Client({ name: 'upgrade', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '--files', here.folder, '--reports', here.folder],
      env: { PATH: process.env['PATH'] ?? '', ...here.env },
      stderr: 'ignore',
    }),
  )
  onTestFinished(() => client.close())
  remove()
  const { tools } = await client.listTools()
  const failed: string[] = []
  for (const { name } of tools) {
    const answer = await client.callTool({ name, arguments: inputs[name] ?? {} })
    const text = JSON.stringify(answer)
    if (/internal|Cannot find module|ENOENT|unknown command/.test(text)) failed.push(`${name}: ${text}`)
  }
  faultRow.countCases(tools.length, tools.length - failed.length)
  expect(failed).toEqual([])
}, 60_000)
