import type { App } from './app.ts'
import { type BugReport, bugReport } from '../domain/doctor/finding.ts'
import type { MachineReport } from '../domain/doctor/finding.ts'
import { variable } from '../host/process.ts'
import { machineDetails, nodeVersion } from '../host/machine.ts'
import { proxySettings } from '../http/transport.ts'
import { storeLocation } from '../store/ledger/open.ts'
import { diagnose as checkAll, storeExists } from '../usecases/doctor/checks.ts'

const locationOf = async (app: App): Promise<string> => storeLocation(await app.storeOptions())

/** Looks at all that a command stands on. `needed`: the versions of Node that will do. */
export async function diagnose(
  app: App,
  { needed, signal }: { needed: string; signal: AbortSignal },
): Promise<MachineReport> {
  const { context, paths } = app
  const { clock, env } = context
  return checkAll({
    clock,
    env,
    node: { version: nodeVersion(), needed },
    folders: paths,
    proxy() {
      const { httpsProxy, httpProxy } = proxySettings(env)
      // The address of a proxy may hold a password; its host does not.
      if (httpsProxy !== '') return { host: new URL(httpsProxy).host, variable: 'HTTPS_PROXY' }
      return httpProxy === '' ? undefined : { host: new URL(httpProxy).host, variable: 'HTTP_PROXY' }
    },
    storeLocation: () => locationOf(app),
    setting: (key) => app.setting(key),
    services: (...names) => app.services(...names),
    signal,
  })
}

/** What a bug report may say of all that. */
export async function reportOn(app: App, report: MachineReport): Promise<BugReport> {
  const settings = await app.service('settings')
  const sound = report.findings.some(({ check, level }) => check === 'store' && level !== 'fail')
  // Where the settings are damaged the path of the store is not known.
  const isThere = sound && (await storeExists(await locationOf(app)))
  return bugReport({
    version: app.options.version,
    machine: machineDetails(),
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
    store: isThere ? await (await app.service('maintenance')).info() : undefined,
  })
}
