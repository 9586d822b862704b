import { access, constants, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { findExposure, requireOwnFolders, findStoreWeakness, tryWrite } from '../../disk/private-modes.ts'
import type { Finding, MachineReport, CheckResult } from '../../domain/doctor/finding.ts'
import { maskKey } from '../../domain/session/session.ts'
import { closingClauses } from '../../domain/store/closing.ts'
import { replicationText } from '../../domain/store/types.ts'
import type { StoreServer } from '../../domain/store/types.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { redactKeys } from '../../domain/wording/redact-argument.ts'
import { RefcheckError, IoError, UnavailableError } from '../../errors/kinds.ts'
import type { Connect, Services } from '../services.ts'
import { fromEnvironment } from '../session/chosen-profile.ts'
import { readSessionStatus } from '../session/login.ts'
import { resolveBaseUrl, resolveSession, type SessionSources } from '../session/resolve.ts'
import { purgeExpired, purgeServices, findRetentionLimit } from '../store/purge.ts'

/** The parts that are checked. A check that needs services creates them. */
interface DoctorParts extends Pick<Services, 'clock' | 'env'> {
  /** `version`: that of this Node.js, such as 24.21.0; `needed`: the supported versions. */
  node: { version: string; needed: string }
  folders: { config: string; data: string }
  findProxy: () => { host: string; variable: string } | undefined
  findStoreLocation: () => Promise<string>
  readSetting: (key: string) => Promise<string | undefined>
  openServices: <K extends keyof Services>(...names: readonly K[]) => Promise<Pick<Services, K>>
  signal: AbortSignal
}

/** The parts that are checked, with the data that is read before the first check. */
interface LoadedParts extends DoctorParts {
  sources: SessionSources
  connect: Connect
  /** Files of the store; empty for a database. */
  storeFiles: readonly string[]
  /** Files with keys or personal data, whose permissions are checked. */
  privateFiles: readonly string[]
}

/** Maximum difference of the clocks in ms before a warning: orders and responses are matched by time. */
const maxClockDifferenceMs = 60_000

/** Checks all that the commands need: this machine, then the service with two pings and one call. */
export async function diagnose(doctorParts: DoctorParts): Promise<MachineReport> {
  const sources = await doctorParts.openServices('settings', 'secrets', 'env', 'profile')
  const storeFiles = await doctorParts.findStoreLocation().then(filesOf, () => [])
  // An error in the settings is one finding and must not prevent the other checks.
  const connect = await doctorParts.openServices('connect').then(
    (services) => services.connect,
    (error: unknown) => (): never => {
      throw error
    },
  )
  const privateFiles = [sources.settings.path, sources.secrets.path, ...storeFiles]
  const parts: LoadedParts = { ...doctorParts, sources, connect, storeFiles, privateFiles }
  const { node, folders } = parts
  return checkMachine([
    { name: 'node', check: async () => ({ message: `${node.version} (needs ${node.needed})` }) },
    {
      name: 'folders',
      check: async () => ({ message: `settings in ${folders.config}, data in ${folders.data}` }),
    },
    { name: 'writing', check: () => checkWriting(parts) },
    { name: 'privacy', check: () => checkPrivacy(parts) },
    { name: 'certificates', check: () => checkCertificates(parts) },
    { name: 'proxy', check: async () => proxyResult(parts.findProxy()) },
    { name: 'store', dependsOn: ['writing'], check: () => checkStore(parts) },
    { name: 'retention', dependsOn: ['writing', 'store'], check: () => checkRetention(parts) },
    { name: 'profile', check: () => checkProfile(parts) },
    { name: 'service', check: () => checkService(parts) },
    { name: 'clock', dependsOn: ['service'], check: () => checkClock(parts) },
    { name: 'key', dependsOn: ['profile', 'service'], check: () => checkKey(parts) },
    { name: 'quota', dependsOn: ['profile'], check: () => checkQuota(parts) },
  ])
}

const isFile = (location: string): boolean => location !== ':memory:' && !location.startsWith('postgres://')

const filesOf = (location: string): string[] => (isFile(location) ? [location, `${location}-wal`] : [])

/** Whether a store exists at its location. A database is assumed to exist. */
export async function storeExists(location: string): Promise<boolean> {
  if (location.startsWith('postgres://')) return true
  return isFile(location) && (await stat(location).catch(() => undefined)) !== undefined
}

async function checkWriting({
  folders: { config, data },
  storeFiles,
  readSetting,
}: LoadedParts): Promise<CheckResult> {
  const storeFolders = storeFiles.slice(0, 1).map(dirname)
  // Damaged settings are reported by another check.
  const reports = await readSetting('output-dir').catch(() => undefined)
  for (const folder of new Set([config, ...storeFolders, ...(reports === undefined ? [] : [reports])])) {
    await tryWrite(folder)
  }
  try {
    // If the store is elsewhere, this folder contains only caches.
    if (!storeFolders.includes(data)) await tryWrite(data)
  } catch (error) {
    if (!(error instanceof IoError)) throw error
    return { level: 'warn', message: `${error.message}; commands start slower without their caches` }
  }
  return { message: 'a file can be written in each' }
}

async function checkPrivacy({
  folders: { config, data },
  storeFiles,
  privateFiles,
}: LoadedParts): Promise<CheckResult> {
  requireOwnFolders(config)
  requireOwnFolders(data)
  const { foreign, accessible, replaceable, listable } = findExposure(privateFiles, [
    config,
    data,
    join(config, 'attempts'),
    ...storeFiles.map(dirname),
  ])
  const problems: { message: string; hint: string }[] = []
  if (accessible.length > 0) {
    problems.push({
      message: `other users of this machine could read ${accessible.join(', ')}`,
      hint: 'Run chmod go= on each. It changes nothing on a file that refcheck has just made private.',
    })
  }
  if (foreign.length > 0) {
    problems.push({
      message: `another user of this machine owns ${foreign.join(', ')}`,
      hint: 'Run refcheck as that user, or keep the files of refcheck elsewhere.',
    })
  }
  if (replaceable.length > 0) {
    problems.push({
      message: `other users of this machine may write to ${replaceable.join(', ')} and replace files of refcheck`,
      hint: 'Run chmod go-w on each, or keep the files of refcheck elsewhere.',
    })
  }
  if (problems.length > 0) {
    return {
      level: 'warn',
      message: problems.map(({ message }) => message).join('; '),
      hint: problems.map(({ hint }) => hint).join('\n'),
    }
  }
  const listableText = listable.length === 0 ? '' : `; they can list ${listable.join(', ')}`
  return { message: `no other user of this machine can read these files${listableText}` }
}

async function checkCertificates({ env }: LoadedParts): Promise<CheckResult> {
  if (fromEnvironment(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    return {
      level: 'warn',
      message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set; it is ignored except for this machine’s own addresses',
      hint: 'Unset it. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.',
    }
  }
  const usesSystemAuthorities = fromEnvironment(env, 'NODE_USE_SYSTEM_CA') === '1'
  const authoritiesText = `checked against Node’s own authorities${usesSystemAuthorities ? ', those of the system' : ''}`
  const extraFile = fromEnvironment(env, 'NODE_EXTRA_CA_CERTS')
  if (extraFile === undefined) return { message: authoritiesText }
  const problem = await findReadProblem(extraFile)
  if (problem === undefined) return { message: `${authoritiesText} and NODE_EXTRA_CA_CERTS` }
  return {
    level: 'warn',
    message: `the file that NODE_EXTRA_CA_CERTS names cannot be read: ${problem}`,
    hint: 'Node ignores it. Correct the path, or unset it.',
  }
}

async function findReadProblem(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ENOENT') return String(code)
    return `there is no ${dirname(path) === '.' ? 'such file here' : 'such file'}`
  }
}

async function checkRetention({
  clock,
  openServices,
  readSetting,
  findStoreLocation,
}: LoadedParts): Promise<CheckResult> {
  const retention = await readSetting('retention')
  const { text } = findRetentionLimit(retention, clock.now()) ?? {}
  if (text === undefined) {
    return { message: 'no limit: personal data is kept until it is purged (refcheck help privacy)' }
  }
  const expired = (await storeExists(await findStoreLocation()))
    ? await purgeExpired(await openServices(...purgeServices, 'clock'), retention, true)
    : undefined
  const dueCount = expired === undefined ? 0 : expired.rows + expired.events + expired.drafts
  const message = `personal data is kept for ${text}`
  if (dueCount === 0) return { message: `${message}; nothing is older` }
  return {
    level: 'warn',
    message: `${message}; ${formatCount(dueCount, 'row, event or draft', 'rows, events or drafts')} ${dueCount === 1 ? 'is' : 'are'} older`,
    hint: 'Remove them with: refcheck store purge',
  }
}

function proxyResult(proxy: { host: string; variable: string } | undefined): CheckResult {
  if (proxy === undefined) return { message: 'none; calls go directly' }
  return {
    message: `${proxy.host}, from ${proxy.variable}; this machine’s own addresses are called directly`,
  }
}

async function checkStore({ openServices, findStoreLocation }: LoadedParts): Promise<CheckResult> {
  const location = await findStoreLocation()
  const weakness = isFile(location) ? findStoreWeakness(location) : undefined
  if (weakness !== undefined) {
    throw new IoError(
      `the store "${location}" could be replaced by others: "${weakness.path}": ${weakness.why}`,
      { hint: 'Move the store into a folder of your own: refcheck store move FROM TO' },
    )
  }
  if (location === ':memory:') {
    return {
      level: 'warn',
      message: 'in memory: nothing is kept from one command to the next',
      hint: 'For real orders, set REFCHECK_STORE to a file or unset it.',
    }
  }
  if (!(await storeExists(location))) {
    return { message: `not created yet; the first order creates it: ${location}` }
  }
  const { store } = await openServices('store')
  const [problem] = await store.problems()
  const closing = problem === undefined ? await store.rollbacks.readClosing() : undefined
  if (closing !== undefined) {
    throw new IoError(`the store "${location}" is closed: ${closingClauses(closing)[0]}`, {
      hint: 'It takes no orders. See what is missing, and how to continue, with: refcheck store check',
    })
  }
  const server = problem === undefined ? (await store.maintenance.info()).server : undefined
  if (server !== undefined) return databaseResult(location, server)
  if (problem === undefined) return { message: `sound: ${location}` }
  throw new IoError(`the store "${location}" is damaged: ${problem}`, {
    hint: 'Order nothing until it is repaired: keep the damaged file, and restore a backup.',
  })
}

function databaseResult(location: string, { replication, hidden }: StoreServer): CheckResult {
  if (hidden.length > 0) {
    throw new IoError(
      `the database of the store "${location}" does not show this user its system identifier and timeline`,
      {
        hint: [
          'Without them an older state of the database cannot be noticed, so nothing is ordered. As an administrator of the server run:',
          ...hidden.map((name) => `GRANT EXECUTE ON ${name} TO PUBLIC;`),
        ].join('\n'),
      },
    )
  }
  const message = `${location}; ${replicationText[replication]}`
  if (replication !== 'asynchronous') return { message }
  return {
    level: 'warn',
    message,
    hint: 'Set synchronous_standby_names at the server, or keep the folder of settings of each runner on a disk that lasts.',
  }
}

export interface Check {
  name: string
  /** Names of checks: this check is skipped if one of them has failed. */
  dependsOn?: readonly string[]
  /**
   * Runs the check. Returns undefined if there is nothing to report. A RefcheckError that it throws is
   * reported as a failure.
   */
  check: () => Promise<CheckResult | undefined>
}

/** Runs each check in turn, whatever the results of the others. Only Ctrl-C and unexpected errors end the run. */
export async function checkMachine(checks: readonly Check[]): Promise<MachineReport> {
  const findings: Finding[] = []
  const failedNames = new Set<string>()
  let failure: RefcheckError | undefined
  for (const { name, dependsOn: after = [], check } of checks) {
    const failedCheck = after.find((each) => failedNames.has(each))
    if (failedCheck !== undefined) {
      failedNames.add(name)
      findings.push({
        check: name,
        level: 'warn',
        message: `not checked, because "${failedCheck}" failed`,
        hint: null,
      })
      continue
    }
    try {
      const result = await check()
      if (result === undefined) continue
      const { level = 'ok', message, hint = null } = result
      findings.push({ check: name, level, message, hint })
    } catch (error) {
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      failedNames.add(name)
      failure ??= error
      const { message, hint = '' } = error
      // The message could contain a key that was stored in a wrong file or variable.
      findings.push({
        check: name,
        level: 'fail',
        message: redactKeys(message),
        hint: hint === '' ? null : redactKeys(hint),
      })
    }
  }
  return { findings, failure }
}

const keyStorages = {
  keychain: 'the system keychain',
  file: 'a private file',
  environment: 'the environment',
}

async function checkProfile({ sources, env }: LoadedParts): Promise<CheckResult> {
  const session = await resolveSession(sources)
  const { baseUrl, email, apiKey, keyFrom } = session
  const name =
    session.profile === undefined ? 'none; everything comes from the environment' : `"${session.profile}"`
  const message = `${name}: ${baseUrl} as ${email}, key ${maskKey(apiKey)} from ${keyStorages[keyFrom]}`
  const overridingVariables = ['REFCHECK_BASE_URL', 'REFCHECK_API_KEY', 'REFCHECK_USER_EMAIL'].filter(
    (each) => session.profile !== undefined && fromEnvironment(env, each) !== undefined,
  )
  if (overridingVariables.length === 0) return { message }
  return {
    level: 'warn',
    message: `${message}; ${overridingVariables.join(' and ')} ${overridingVariables.length === 1 ? 'is' : 'are'} set as well`,
    hint: 'The environment overrides the profile, unless --profile is given. Unset it if that is unintended.',
  }
}

async function checkService({ connect, sources, signal }: LoadedParts): Promise<CheckResult> {
  const api = connect({ baseUrl: await resolveBaseUrl(sources) })
  const { latency_ms } = await api.ping(signal)
  return { message: `${api.baseUrl} answers in ${latency_ms} ms` }
}

async function checkClock({ sources, openServices, clock }: LoadedParts): Promise<CheckResult | undefined> {
  const baseUrl = await resolveBaseUrl(sources)
  const { http } = await openServices('http')
  const { headers, milliseconds } = await http.send({ method: 'GET', url: `${baseUrl}/v1/ping` })
  const { date } = headers
  const serverTime = typeof date === 'string' ? Date.parse(date) : Number.NaN
  // The API document does not promise the `date` header.
  if (Number.isNaN(serverTime)) return undefined
  const aheadMs = clock.now() - milliseconds / 2 - serverTime
  const differenceSeconds = Math.round(Math.abs(aheadMs) / 1000)
  if (Math.abs(aheadMs) <= maxClockDifferenceMs) return { message: 'agrees with the service’s clock' }
  return {
    level: 'warn',
    message: `this machine’s clock is ${differenceSeconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the service’s`,
    hint: 'Set it by the network (NTP): orders with an unknown outcome are recognised by their time.',
  }
}

async function checkKey({ sources, connect, signal }: LoadedParts): Promise<CheckResult> {
  const { status, error } = await readSessionStatus({ ...sources, connect, signal })
  if (error !== undefined) throw error
  const { user } = status
  if (user === null) throw new UnavailableError('the service does not list this user')
  return { message: `works; ${user.email} is ${user.role}` }
}

async function checkQuota({ openServices, clock }: LoadedParts): Promise<CheckResult> {
  const { governor } = await openServices('governor')
  const { windows, notBefore } = await governor.status()
  const leftText = windows.map((window) => `${window.left} of ${window.calls}`).join(' and ')
  const waitMs = notBefore - clock.now()
  if (waitMs <= 0) return { message: `${leftText} calls left, as far as this store knows` }
  return {
    level: 'warn',
    message: `used up for another ${Math.ceil(waitMs / 1000)} s`,
    hint: 'Commands wait for it by themselves.',
  }
}
