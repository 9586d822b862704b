import type { App } from './app.ts'
import { type BugReport, bugReport } from '../domain/doctor/finding.ts'
import type { MachineReport } from '../domain/doctor/finding.ts'
import { variable } from '../host/process.ts'
import { machineDetails, nodeVersion } from '../host/machine.ts'
import { proxySettings } from '../http/transport.ts'
import { storeLocation } from '../store/ledger/open.ts'
import { diagnose as runChecks, storeExists } from '../usecases/doctor/checks.ts'

const locationOf = async (app: App): Promise<string> => storeLocation(await app.storeOptions())

/** Checks everything that the commands need. `needed`: the versions of Node that refcheck supports. */
export async function diagnose(
  app: App,
  { needed, signal }: { needed: string; signal: AbortSignal },
): Promise<MachineReport> {
  const { context, paths } = app
  const { clock, env } = context
  return runChecks({
    clock,
    env,
    node: { version: nodeVersion(), needed },
    folders: paths,
    findProxy() {
      const { httpsProxy, httpProxy } = proxySettings(env)
      // The address of a proxy may contain a password; its host does not.
      if (httpsProxy !== '') return { host: new URL(httpsProxy).host, variable: 'HTTPS_PROXY' }
      return httpProxy === '' ? undefined : { host: new URL(httpProxy).host, variable: 'HTTP_PROXY' }
    },
    findStoreLocation: () => locationOf(app),
    readSetting: (key) => app.setting(key),
    openServices: (...names) => app.services(...names),
    signal,
  })
}

/** Returns a bug report with the results. */
export async function createBugReport(app: App, report: MachineReport): Promise<BugReport> {
  const settings = await app.service('settings')
  const isStoreUsable = report.findings.some(({ check, level }) => check === 'store' && level !== 'fail')
  // If the settings are damaged, the path of the store is unknown.
  const hasStore = isStoreUsable && (await storeExists(await locationOf(app)))
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
    store: hasStore ? await (await app.service('maintenance')).info() : undefined,
  })
}
