import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** A quota of more calls than any benchmark makes. */
export const unlimitedQuota = '10000000/60,10000000/3600'

/** A folder for the settings, data and files of one benchmark. */
export interface Home {
  folder: string
  /** Path of the program: a copy of the shipped files, so that a build during the benchmark does not change it. */
  program: string
  /** The environment of the program, which has only PATH of the benchmark's environment. */
  env: Record<string, string>
  remove: () => void
}

/** Creates a home with its data folder, so that compiled code is stored there from the first run on. */
export function createHome(): Home {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const env = {
    PATH: process.env['PATH'] ?? '',
    REFCHECK_CONFIG_DIR: join(folder, 'config'),
    REFCHECK_DATA_DIR: join(folder, 'data'),
  }
  const shippedFolder = join(folder, 'shipped')
  for (const part of ['bin', 'dist', 'package.json', 'oclif.manifest.json']) {
    cpSync(join(root, part), join(shippedFolder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(shippedFolder, 'node_modules'))
  const program = join(shippedFolder, 'bin', 'run.js')
  return { folder, program, env, remove: () => rmSync(folder, { recursive: true }) }
}

/** Runs a process, ignores its output, and returns its duration in ms. Throws if it fails. */
export function measureProcess(
  command: string,
  argv: readonly string[],
  env: Record<string, string>,
  cwd?: string,
): number {
  const startedAt = performance.now()
  const { status, error, stderr } = spawnSync(command, argv, {
    env,
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const durationMs = performance.now() - startedAt
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')}: exit ${status}: ${stderr.toString()}`)
  return durationMs
}

/** Measures the start of Node.js with an empty program: no start of the program can be faster. */
export const measureBareNode = (env: Record<string, string>): number =>
  measureProcess(process.execPath, ['-e', '0'], env)

/** Returns the name of a program if it is on this machine, otherwise undefined. */
export function findInstalled(name: 'gh' | 'curl'): string | undefined {
  return spawnSync(name, ['--version']).status === 0 ? name : undefined
}

/**
 * Returns the path of the Python interpreter, not of a wrapper that starts it; undefined if the interpreter or the
 * module is missing.
 */
export function findPython(module: 'requests' | 'urllib'): string | undefined {
  const argv = ['-c', `import sys, ${module}; print(sys.executable)`]
  const { status, stdout } = spawnSync('python3', argv, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

export interface SandboxProcess {
  url: string
  apiKey: string
  userEmail: string
  webhookSecret: string
  /** The variables that the program needs for this sandbox, in addition to those of the home. */
  env: Record<string, string>
  stop: () => Promise<void>
}

/** Starts `refcheck sandbox start` in a separate process, with a quota that is never exceeded. */
export async function startSandboxProcess({ program, env }: Home): Promise<SandboxProcess> {
  const argv = [program, 'sandbox', 'start', '--port', '0', '--json', '--quota', unlimitedQuota]
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const address = JSON.parse(await readFirstLine(child)) as Record<
    'base_url' | 'api_key' | 'user_email' | 'webhook_secret',
    string
  >
  return {
    url: address.base_url,
    apiKey: address.api_key,
    userEmail: address.user_email,
    webhookSecret: address.webhook_secret,
    env: {
      REFCHECK_BASE_URL: address.base_url,
      REFCHECK_API_KEY: address.api_key,
      REFCHECK_USER_EMAIL: address.user_email,
      REFCHECK_QUOTA: unlimitedQuota,
    },
    stop: async () => {
      child.kill()
      await exited
    },
  }
}

function readFirstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(text)
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it printed its address`)))
  })
}
