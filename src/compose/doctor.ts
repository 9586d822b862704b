import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { Services } from '../cli/services.ts'
import { looseMode } from '../disk/private-modes.ts'
import type { Examination } from '../domain/doctor/finding.ts'
import { variable } from '../host/env.ts'
import { hasFileModes, nodeVersion } from '../host/runtime.ts'
import { proxySettings } from '../http/proxy.ts'
import { storeLocation } from '../store/ledger/options.ts'
import { examine } from '../usecases/doctor/examine.ts'
import { machineChecks } from '../usecases/doctor/machine.ts'
import { serviceChecks } from '../usecases/doctor/service.ts'

/** Looks at all that a command stands on. `needed`: the versions of Node that will do. */
export async function diagnose(
  services: Services,
  { needed, signal }: { needed: string; signal: AbortSignal },
): Promise<Examination> {
  const { context, paths } = services
  const { clock, env } = context
  const location = async (): Promise<string> => {
    const chosen = variable(env, 'REFCHECK_STORE') ?? (await services.setting('store'))
    return storeLocation({ chosen, paths, cwd: context.cwd })
  }
  const sources = await services.sessionSources()
  // Looked at before anything is opened, which would mend it.
  const privatePlaces = [
    paths.config,
    sources.settings.path,
    sources.secrets.path,
    paths.data,
    ...(await location().then(placesOf, () => [])),
  ]
  const machine = machineChecks({
    clock,
    env,
    node: { version: nodeVersion(), needed },
    folders: paths,
    privatePlaces,
    looseMode: async (path) => (hasFileModes() ? looseMode(path) : undefined),
    unreadable,
    proxy: () => proxyInUse(env),
    store: async () => {
      const path = await location()
      const isThere = path !== ':memory:' && (await stat(path).catch(() => undefined)) !== undefined
      return { location: path, open: isThere ? () => services.store() : undefined }
    },
  })
  // What keeps the settings from being read is one finding, and not the end of all the others.
  const connect = await services.connector().catch((error: unknown) => (): never => {
    throw error
  })
  const service = serviceChecks({
    clock,
    env,
    sources: () => services.sessionSources(),
    publicApi: () => services.publicApi(),
    connect,
    datedPing: (baseUrl) => datedPing(services, baseUrl),
    governor: () => services.governor(),
    signal,
  })
  return examine([...machine, ...service])
}

const placesOf = (path: string): string[] => (path === ':memory:' ? [] : [path, `${path}-wal`])

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
function proxyInUse(env: Services['context']['env']): { host: string; variable: string } | undefined {
  const { httpsProxy, httpProxy } = proxySettings(env)
  if (httpsProxy !== '') return { host: new URL(httpsProxy).host, variable: 'HTTPS_PROXY' }
  return httpProxy === '' ? undefined : { host: new URL(httpProxy).host, variable: 'HTTP_PROXY' }
}

async function datedPing(
  services: Services,
  baseUrl: string,
): Promise<{ date: string | undefined; milliseconds: number }> {
  const http = await services.http()
  const { headers, milliseconds } = await http.send({ method: 'GET', url: `${baseUrl}/v1/ping` })
  const { date } = headers
  return { date: typeof date === 'string' ? date : undefined, milliseconds }
}
