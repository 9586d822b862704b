import type { Remark } from '../../domain/doctor/finding.ts'
import { IoError } from '../../errors/kinds.ts'
import type { Check } from './examine.ts'
import type { Clock } from '../../host/clock.ts'
import type { Environment } from '../../host/env.ts'
import { given } from '../session/chosen-profile.ts'

export interface MachineParts {
  clock: Clock
  env: Environment
  /** "24.21.0", and the oldest that will do. */
  node: { version: string; needed: string }
  folders: { config: string; data: string }
  /** Files and folders that others must not read, as far as they are there. */
  privatePlaces: readonly string[]
  /** A mode such as "0644" where other accounts may do something with it. */
  looseMode: (path: string) => Promise<string | undefined>
  /** Why a file cannot be read; undefined where it can. */
  unreadable: (path: string) => Promise<string | undefined>
  /** Throws where the environment's values make no sense. */
  proxy: () => { host: string; variable: string } | undefined
  store: () => Promise<StoreLook>
}

export interface StoreLook {
  location: string
  /** Undefined where there is none yet. */
  open: (() => Promise<{ problems(): Promise<string[]> }>) | undefined
}

/** What this machine has, without a call. */
export function machineChecks(parts: MachineParts): Check[] {
  return [
    { name: 'node', look: async () => ({ message: `${parts.node.version} (${parts.node.needed} will do)` }) },
    {
      name: 'folders',
      look: async () => ({ message: `settings in ${parts.folders.config}, data in ${parts.folders.data}` }),
    },
    { name: 'privacy', look: () => privacy(parts) },
    { name: 'certificates', look: () => certificates(parts) },
    { name: 'proxy', look: async () => proxyRemark(parts.proxy()) },
    { name: 'store', look: () => storeRemark(parts) },
  ]
}

async function privacy({ privatePlaces, looseMode }: MachineParts): Promise<Remark> {
  const loose: string[] = []
  for (const path of privatePlaces) {
    const mode = await looseMode(path)
    if (mode !== undefined) loose.push(`"${path}" (${mode})`)
  }
  if (loose.length === 0) return { message: 'other accounts of this machine can read none of it' }
  return {
    level: 'warn',
    message: `other accounts of this machine could read ${loose.join(', ')}`,
    hint: 'refcheck closes what it opens. If it says so again, run: chmod go= on each.',
  }
}

async function certificates({ env, unreadable }: MachineParts): Promise<Remark> {
  if (given(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    return {
      level: 'warn',
      message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set; it is heeded for this machine’s own addresses only',
      hint: 'Unset it. To trust a certificate authority of your own, set NODE_EXTRA_CA_CERTS to its file.',
    }
  }
  const extra = given(env, 'NODE_EXTRA_CA_CERTS')
  if (extra === undefined) return { message: 'checked against Node’s own authorities' }
  const why = await unreadable(extra)
  if (why === undefined) return { message: 'checked against Node’s own authorities and NODE_EXTRA_CA_CERTS' }
  return {
    level: 'warn',
    message: `the file that NODE_EXTRA_CA_CERTS names cannot be read: ${why}`,
    hint: 'Node goes on without it. Mend the path, or unset it.',
  }
}

function proxyRemark(proxy: { host: string; variable: string } | undefined): Remark {
  if (proxy === undefined) return { message: 'none: calls go straight' }
  return { message: `${proxy.host}, from ${proxy.variable}; this machine’s own addresses go straight` }
}

async function storeRemark({ store }: MachineParts): Promise<Remark> {
  const { location, open } = await store()
  if (location === ':memory:') {
    return {
      level: 'warn',
      message: 'in memory: nothing is remembered from one command to the next',
      hint: 'For anything but trying things out, set REFCHECK_STORE to a file or unset it.',
    }
  }
  if (open === undefined) return { message: `not made yet; the first order makes it: ${location}` }
  const [problem] = await (await open()).problems()
  if (problem === undefined) return { message: `sound: ${location}` }
  throw new IoError(`the store "${location}" is damaged: ${problem}`, {
    hint: 'Order nothing before it is mended: put back a copy of it, and keep the damaged file.',
  })
}
