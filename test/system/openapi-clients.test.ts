import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox } from '../../src/sandbox/control/embedded.ts'
import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import { toOpenApi30 } from '../../src/contract/openapi.ts'
import { sandboxOpenApi } from '../../src/sandbox/control/openapi.ts'
import { listen } from '../../src/server/listen.ts'

// Compilers are slow on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** Programs that use a generated client, by its generator. The first one is in the documentation. */
const programs = {
  'openapi-fetch': join(root, 'src', 'reference', 'clients', 'openapi-fetch.ts.txt'),
  'hey-api': join(root, 'test', 'vectors', 'openapi', 'hey-api.ts.txt'),
}

/**
 * Tools that this test installs from the registry in exact versions. They are no dependencies of the project,
 * because they have 138 MB and another TypeScript.
 */
const tools = [
  '@stoplight/spectral-cli@6.16.3',
  '@redocly/cli@2.77.0',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.99.0',
  'typescript@5.9.3',
  '@types/node@24.19.2',
]

let folder = ''

/** Runs a program of an installed package in the folder. Returns its output. */
async function runTool(script: string, ...argv: string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [join(folder, 'node_modules', script), ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'], CI: '1' },
  }).catch((error: unknown) => error as { stdout: string; stderr: string })
  return stdout + stderr
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-openapi-'))
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tools], { cwd: folder })
  const document = sandboxOpenApi('http://127.0.0.1:4280')
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document, null, 2))
  writeFileSync(join(folder, 'openapi-3.0.json'), JSON.stringify(toOpenApi30(document), null, 2))
  writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

test('Spectral reports no problem and no hint', async () => {
  const output = await runTool(
    '@stoplight/spectral-cli/dist/index.js',
    'lint',
    'openapi.json',
    '--fail-severity',
    'hint',
  )
  expect(output).toContain("No results with a severity of 'hint' or higher found!")
})

test('Redocly reports no problem with its strict rules', async () => {
  const output = await runTool(
    '@redocly/cli/bin/cli.js',
    'lint',
    'openapi.json',
    '--extends',
    'recommended-strict',
  )
  expect(output).toContain('Your API description is valid.')
  expect(output).not.toMatch(/warning|error/i)
})

/** Starts a sandbox, which the generated clients also control. Returns their environment. */
async function startService(): Promise<NodeJS.ProcessEnv> {
  const sandbox = createSandbox({ clock: new ManualClock(systemClock.now()) })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection))
  onTestFinished(async () => {
    await listener.close()
    sandbox.close()
  })
  const { apiKey, userEmail } = sandbox.credentials
  return { PATH: process.env['PATH'], BASE_URL: listener.url, API_KEY: apiKey, USER_EMAIL: userEmail }
}

const settings = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: ['node'],
  outDir: 'out',
}

/** Compiles a program around a generated client strictly, and runs it against a sandbox. */
async function compileAndRun(name: keyof typeof programs): Promise<unknown> {
  copyFileSync(programs[name], join(folder, `${name}.ts`))
  const project = { compilerOptions: settings, files: [`${name}.ts`] }
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(project))
  expect(await runTool('typescript/bin/tsc', '-p', `${name}.json`)).toBe('')
  const { stdout } = await run(process.execPath, [join(folder, 'out', `${name}.js`)], {
    env: await startService(),
  })
  return JSON.parse(stdout)
}

const expectedOutput = {
  status: 'COMPLETED',
  reports: ['%PDF-', '%PDF-', '%PDF-', '%PDF-'],
  refused: 404,
  status_message: 'client_error',
}

test.each(['openapi.json', 'openapi-3.0.json'])(
  'a client of openapi-typescript and openapi-fetch, from %s, compiles strictly and runs',
  async (input) => {
    rmSync(join(folder, 'schema.ts'), { force: true })
    await runTool('openapi-typescript/bin/cli.js', input, '-o', 'schema.ts')
    expect(await compileAndRun('openapi-fetch')).toEqual(expectedOutput)
  },
)

test.each(['openapi.json', 'openapi-3.0.json'])(
  'a client of @hey-api/openapi-ts, from %s, compiles strictly and runs',
  async (input) => {
    rmSync(join(folder, 'client'), { recursive: true, force: true })
    mkdirSync(join(folder, 'client'), { recursive: true })
    const config = {
      input,
      output: { path: 'client', importFileExtension: '.js' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    }
    writeFileSync(join(folder, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(config)}\n`)
    await runTool('@hey-api/openapi-ts/bin/run.js', '-f', 'openapi-ts.config.mjs')
    expect(await compileAndRun('hey-api')).toEqual(expectedOutput)
  },
)
