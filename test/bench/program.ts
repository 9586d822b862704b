import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** More calls than any benchmark makes. */
export const freeQuota = '10000000/60,10000000/3600'

/** A folder for settings, data and files of a benchmark alone. */
export interface Home {
  folder: string
  /** The program as it is shipped: a copy of what was built, so that no build changes it meanwhile. */
  program: string
  /** The program's environment: nothing of the benchmark's own but the PATH. */
  env: Record<string, string>
  remove: () => void
}

/** The data folder is there, so that compiled code is stored in it from the first run on. */
export function home(): Home {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const env = {
    PATH: process.env['PATH'] ?? '',
    REFCHECK_CONFIG_DIR: join(folder, 'config'),
    REFCHECK_DATA_DIR: join(folder, 'data'),
  }
  const shipped = join(folder, 'shipped')
  for (const part of ['bin', 'dist', 'package.json', 'oclif.manifest.json']) {
    cpSync(join(root, part), join(shipped, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(shipped, 'node_modules'))
  const program = join(shipped, 'bin', 'run.js')
  return { folder, program, env, remove: () => rmSync(folder, { recursive: true }) }
}

/** A whole process, its answer thrown away: milliseconds. Throws where it fails. */
export function milliseconds(
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
  const took = performance.now() - startedAt
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')}: exit ${status}: ${stderr.toString()}`)
  return took
}

/** The floor of every start. */
export const bareNode = (env: Record<string, string>): number =>
  milliseconds(process.execPath, ['-e', '0'], env)

/** The name of a program that is on this machine; undefined where it is not. */
export function installed(name: 'gh' | 'curl'): string | undefined {
  return spawnSync(name, ['--version']).status === 0 ? name : undefined
}

/** The interpreter itself, and not a wrapper of it; undefined where it or the module is missing. */
export function pythonWith(module: 'requests' | 'urllib'): string | undefined {
  const ask = ['-c', `import sys, ${module}; print(sys.executable)`]
  const { status, stdout } = spawnSync('python3', ask, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

export interface SandboxProcess {
  url: string
  apiKey: string
  userEmail: string
  webhookSecret: string
  /** What the program needs of it, in addition to a home's environment. */
  env: Record<string, string>
  stop: () => Promise<void>
}

/** `refcheck sandbox start` in a process of its own, its quota out of the way. */
export async function sandboxProcess({ program, env }: Home): Promise<SandboxProcess> {
  const argv = [program, 'sandbox', 'start', '--port', '0', '--json', '--quota', freeQuota]
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const over = once(child, 'exit')
  const address = JSON.parse(await firstLine(child)) as Record<
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
      REFCHECK_QUOTA: freeQuota,
    },
    stop: async () => {
      child.kill()
      await over
    },
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(text)
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it printed its address`)))
  })
}
