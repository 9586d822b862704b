import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { App } from './app.ts'
import type { Environment } from '../host/env.ts'
import { type BugReport, bugReport, type MachineReport } from '../domain/doctor/finding.ts'
import { variable } from '../host/env.ts'
import { exposure, requireOwnFolders, storeWeakness, tryWrite } from '../disk/private-modes.ts'
import type { Paths } from '../host/paths.ts'
import { machineKind, nodeVersion } from '../host/machine.ts'
import { proxySettings } from '../http/transport.ts'
import { storeLocation } from '../store/ledger/open.ts'
import { checkMachine, machineChecks, type WrittenPath } from '../usecases/doctor/machine.ts'
import { serviceChecks } from '../usecases/doctor/service.ts'
import { resolveBaseUrl } from '../usecases/session/resolve.ts'
import { retentionLimit } from '../usecases/store/purge.ts'
import { purgeAllExpired } from './retention.ts'

/** Looks at all that a command stands on. `needed`: the versions of Node that will do. */
export async function diagnose(
  app: App,
  { needed, signal }: { needed: string; signal: AbortSignal },
): Promise<MachineReport> {
  const { context, paths } = app
  const { clock, env } = context
  const location = async (): Promise<string> => storeLocation(await app.storeOptions())
  const sources = await app.services('settings', 'secrets', 'env', 'profile')
  // Looked at before anything is opened, which would fix it.
  const storeFiles = await location().then(pathsOf, () => [])
  const files = [sources.settings.path, sources.secrets.path, ...storeFiles]
  const folders = [paths.config, paths.data, ...storeFiles.map(dirname)]
  const machine = machineChecks({
    clock,
    env,
    node: { version: nodeVersion(), needed },
    folders: paths,
    // Settings that are damaged are another finding.
    written: async () => {
      const reports = await app.setting('output-dir').catch(() => undefined)
      return writtenPaths(paths, storeFiles.slice(0, 1).map(dirname), reports)
    },
    tryWrite,
    retention: async () => {
      const limit = retentionLimit(await app.setting('retention'), clock.now())
      if (limit === undefined || !(await isStoreThere(await location()))) return { text: limit?.text, due: 0 }
      const { rows, events, drafts } = (await purgeAllExpired(app, true)) ?? { rows: 0, events: 0, drafts: 0 }
      return { text: limit.text, due: rows + events + drafts }
    },
    requireOwnFolders: () => requireOwnFolders(paths.config, paths.data),
    exposure: () => exposure(files, folders),
    unreadable,
    proxy: () => proxyInUse(env),
    store: async () => {
      const path = await location()
      const isThere = await isStoreThere(path)
      const [file] = pathsOf(path)
      return {
        location: path,
        exposed: file === undefined ? undefined : storeWeakness(file),
        open: isThere ? async () => (await app.services('store')).store : undefined,
      }
    },
  })
  // What keeps the settings from being read is one finding, and not the end of all the others.
  const connect = await app.services('connect').then(
    (services) => services.connect,
    (error: unknown) => (): never => {
      throw error
    },
  )
  const service = serviceChecks({
    clock,
    env,
    sources: () => app.services('settings', 'secrets', 'env', 'profile'),
    publicApi: async () =>
      (await app.services('connect')).connect({ baseUrl: await resolveBaseUrl(sources) }),
    connect,
    datedPing: (baseUrl) => datedPing(app, baseUrl),
    governor: async () => (await app.services('governor')).governor,
    signal,
  })
  return checkMachine([...machine, ...service])
}

/** What a bug report may say of all that. */
export async function reportOn(app: App, report: MachineReport): Promise<BugReport> {
  const { settings } = await app.services('settings')
  const sound = report.findings.some(({ check, level }) => check === 'store' && level !== 'fail')
  // Where the settings are damaged the path of the store is not known.
  const isThere = sound && (await isStoreThere(storeLocation(await app.storeOptions())))
  return bugReport({
    version: app.options.version,
    machine: machineKind(),
    isSet: (name) => variable(app.context.env, name) !== undefined,
    settings: await settings.values().then(
      (values) => [...values.keys()],
      () => [],
    ),
    profiles: await settings.profiles().then(
      ({ size }) => size,
      () => null,
    ),
    report,
    store: isThere ? await (await app.services('maintenance')).maintenance.info() : undefined,
  })
}

async function isStoreThere(path: string): Promise<boolean> {
  if (path.startsWith('postgres://')) return true
  return path !== ':memory:' && (await stat(path).catch(() => undefined)) !== undefined
}

/** `ofStore`: the folder of its file; none of a database. */
function writtenPaths(
  { config, data }: Paths,
  ofStore: readonly string[],
  reports: string | undefined,
): readonly WrittenPath[] {
  return [
    ...[...new Set([config, ...ofStore, ...(reports === undefined ? [] : [reports])])].map((folder) => ({
      folder,
    })),
    ...(ofStore.includes(data) ? [] : [{ folder: data, isCache: true }]),
  ]
}

const pathsOf = (path: string): string[] =>
  path === ':memory:' || path.startsWith('postgres://') ? [] : [path, `${path}-wal`]

async function unreadable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT'
      ? `there is no ${dirname(path) === '.' ? 'such file here' : 'such file'}`
      : String(code)
  }
}

/** A proxy's address may hold a password; its host does not. */
function proxyInUse(env: Environment): { host: string; variable: string } | undefined {
  const { httpsProxy, httpProxy } = proxySettings(env)
  if (httpsProxy !== '') return { host: new URL(httpsProxy).host, variable: 'HTTPS_PROXY' }
  return httpProxy === '' ? undefined : { host: new URL(httpProxy).host, variable: 'HTTP_PROXY' }
}

async function datedPing(
  app: App,
  baseUrl: string,
): Promise<{ date: string | undefined; milliseconds: number }> {
  const { http: client } = await app.services('http')
  const { headers, milliseconds } = await client.send({ method: 'GET', url: `${baseUrl}/v1/ping` })
  const { date } = headers
  return { date: typeof date === 'string' ? date : undefined, milliseconds }
}
