import type { Exposure } from '../../disk/private-modes.ts'
import type { Finding, MachineReport, Remark } from '../../domain/doctor/finding.ts'
import { replicationText, type StoreServer } from '../../domain/store/types.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { redactKeys } from '../../domain/wording/redact-argument.ts'
import { RefcheckError } from '../../errors/base.ts'
import { IoError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Environment } from '../../host/env.ts'
import type { Maintenance } from '../../store/ledger/maintenance.ts'
import type { Store } from '../../store/ledger/store.ts'
import { fromEnvironment } from '../session/chosen-profile.ts'

interface MachineParts {
  clock: Clock
  env: Environment
  /** "24.21.0", and the oldest that will do. */
  node: { version: string; needed: string }
  folders: { config: string; data: string }
  /** Where commands write: what for, and whether they can do without. */
  written: () => Promise<readonly WrittenPath[]>
  /** Throws an IoError where a file cannot be written. */
  tryWrite: (folder: string) => Promise<void>
  /** Throws an IoError where a folder is one that commands refuse. */
  requireOwnFolders: () => void
  exposure: () => Exposure
  /** Why a file cannot be read; undefined where it can. */
  unreadable: (path: string) => Promise<string | undefined>
  /** Throws where the environment's values make no sense. */
  /** How long the store keeps personal data, and how many rows, events and drafts are older. */
  retention: () => Promise<{ text: string | undefined; due: number }>
  proxy: () => { host: string; variable: string } | undefined
  store: () => Promise<StoreLook>
}

export interface WrittenPath {
  folder: string
  /** Only copies of what can be read again are kept there. */
  isCache?: boolean
}

interface StoreLook {
  location: string
  /** Its file, or the folder of that, and why other accounts could replace it. */
  exposed?: { path: string; why: string } | undefined
  /** Undefined where there is none yet. */
  open: (() => Promise<Pick<Store, 'problems'> & { maintenance: Pick<Maintenance, 'info'> }>) | undefined
}

/** What this machine has, without a call. */
export function machineChecks(parts: MachineParts): Check[] {
  return [
    { name: 'node', check: async () => ({ message: `${parts.node.version} (needs ${parts.node.needed})` }) },
    {
      name: 'folders',
      check: async () => ({ message: `settings in ${parts.folders.config}, data in ${parts.folders.data}` }),
    },
    { name: 'writing', check: () => writing(parts) },
    { name: 'privacy', check: () => privacy(parts) },
    { name: 'certificates', check: () => certificates(parts) },
    { name: 'proxy', check: async () => proxyRemark(parts.proxy()) },
    { name: 'store', after: ['writing'], check: () => storeRemark(parts) },
    { name: 'retention', after: ['writing', 'store'], check: () => retentionRemark(parts) },
  ]
}

async function writing({ written, tryWrite }: MachineParts): Promise<Remark> {
  const paths = await written()
  const caches: string[] = []
  for (const { folder, isCache } of paths) {
    try {
      await tryWrite(folder)
    } catch (error) {
      if (!(error instanceof IoError) || isCache !== true) throw error
      caches.push(error.message)
    }
  }
  const [problem] = caches
  if (problem === undefined) return { message: 'a file can be written in each' }
  return { level: 'warn', message: `${problem}; commands start slower without their caches` }
}

async function privacy({ requireOwnFolders, exposure }: MachineParts): Promise<Remark> {
  requireOwnFolders()
  const { foreign, loose, writable, listable } = exposure()
  const problems: { message: string; hint: string }[] = []
  if (loose.length > 0) {
    problems.push({
      message: `other users of this machine could read ${loose.join(', ')}`,
      hint: 'The permissions are corrected now. If this appears again, run chmod go= on each.',
    })
  }
  if (foreign.length > 0) {
    problems.push({
      message: `another user of this machine owns ${foreign.join(', ')}`,
      hint: 'Run refcheck as that user, or keep the files of refcheck elsewhere.',
    })
  }
  if (writable.length > 0) {
    problems.push({
      message: `other users of this machine may write to ${writable.join(', ')} and replace files of refcheck`,
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
  const listed = listable.length === 0 ? '' : `; they can list ${listable.join(', ')}`
  return { message: `no other user of this machine can read these files${listed}` }
}

async function certificates({ env, unreadable }: MachineParts): Promise<Remark> {
  if (fromEnvironment(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    return {
      level: 'warn',
      message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set; it is ignored except for this machine’s own addresses',
      hint: 'Unset it. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.',
    }
  }
  const isSystems = fromEnvironment(env, 'NODE_USE_SYSTEM_CA') === '1'
  const known = `checked against Node’s own authorities${isSystems ? ', those of the system' : ''}`
  const extra = fromEnvironment(env, 'NODE_EXTRA_CA_CERTS')
  if (extra === undefined) return { message: known }
  const why = await unreadable(extra)
  if (why === undefined) return { message: `${known} and NODE_EXTRA_CA_CERTS` }
  return {
    level: 'warn',
    message: `the file that NODE_EXTRA_CA_CERTS names cannot be read: ${why}`,
    hint: 'Node ignores it. Correct the path, or unset it.',
  }
}

async function retentionRemark({ retention }: MachineParts): Promise<Remark> {
  const { text, due } = await retention()
  if (text === undefined) {
    return { message: 'no limit: personal data is kept until it is purged (refcheck help privacy)' }
  }
  const message = `personal data is kept for ${text}`
  if (due === 0) return { message: `${message}; nothing is older` }
  return {
    level: 'warn',
    message: `${message}; ${formatCount(due, 'row, event or draft', 'rows, events or drafts')} ${due === 1 ? 'is' : 'are'} older`,
    hint: 'Remove them with: refcheck store purge',
  }
}

function proxyRemark(proxy: { host: string; variable: string } | undefined): Remark {
  if (proxy === undefined) return { message: 'none; calls go directly' }
  return {
    message: `${proxy.host}, from ${proxy.variable}; this machine’s own addresses are called directly`,
  }
}

async function storeRemark({ store }: MachineParts): Promise<Remark> {
  const { location, open, exposed } = await store()
  if (exposed !== undefined) throw exposedStore(location, exposed)
  if (location === ':memory:') {
    return {
      level: 'warn',
      message: 'in memory: nothing is kept from one command to the next',
      hint: 'For real orders, set REFCHECK_STORE to a file or unset it.',
    }
  }
  if (open === undefined) return { message: `not created yet; the first order creates it: ${location}` }
  const opened = await open()
  const [problem] = await opened.problems()
  const server = problem === undefined ? (await opened.maintenance.info()).server : undefined
  if (server !== undefined) return serverRemark(location, server)
  if (problem === undefined) return { message: `sound: ${location}` }
  throw new IoError(`the store "${location}" is damaged: ${problem}`, {
    hint: 'Order nothing until it is repaired: keep the damaged file, and restore a backup.',
  })
}

function exposedStore(location: string, { path, why }: { path: string; why: string }): IoError {
  return new IoError(`the store "${location}" could be replaced by others: "${path}": ${why}`, {
    hint: 'Move the store into a folder of your own: refcheck store move FROM TO',
  })
}

function serverRemark(location: string, { replication, hidden }: StoreServer): Remark {
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
  /** Not looked at where one of these failed. */
  after?: readonly string[]
  /** Undefined where there is nothing to say. A RefcheckError that it throws is a failure. */
  check: () => Promise<Remark | undefined>
}

/** Makes each check in turn, whatever the others came to. Only what is no RefcheckError, and Ctrl-C, ends it. */
export async function checkMachine(checks: readonly Check[]): Promise<MachineReport> {
  const findings: Finding[] = []
  const failed = new Set<string>()
  let failure: RefcheckError | undefined
  for (const { name, after = [], check } of checks) {
    const cause = after.find((each) => failed.has(each))
    if (cause !== undefined) {
      failed.add(name)
      findings.push({
        check: name,
        level: 'warn',
        message: `not checked, because "${cause}" failed`,
        hint: null,
      })
      continue
    }
    try {
      const remark = await check()
      if (remark === undefined) continue
      const { level = 'ok', message, hint = null } = remark
      findings.push({ check: name, level, message, hint })
    } catch (error) {
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      failed.add(name)
      failure ??= error
      const { message, hint = '' } = error
      // A key may stand in a file or variable where something else belongs.
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
