import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'

import { temporaryFolder } from '../world.ts'

/** A fault that receiver.ts and receiver.py have if they are started with its name, and the cases that detect it. */
interface FaultyReceiver {
  fault: string
  /** Cases that fail in a run with --strict that checks only the answers. */
  byAnswers: readonly string[]
  /** Cases that fail in addition in a run that also has --stored-url and --restart. */
  byStored: readonly string[]
  /** Cases that fail or pass with --restart, depending on the event at which the receiver is killed. */
  byChance?: readonly string[]
}

/** The cases that send an event whose signature is not valid. */
const casesWithInvalidSignature = [
  'signature-missing',
  'signature-empty',
  'signature-wrong',
  'signature-upper-case',
  'signature-base64',
  'signature-prefixed',
  'signature-doubled',
  'signature-cut',
  'signature-longer',
  'signature-not-hex',
  'body-edited',
  'body-reformatted',
  'verify-before-parsing',
]

export const faultyReceivers: readonly FaultyReceiver[] = [
  // The receiver without a fault.
  { fault: 'none', byAnswers: [], byStored: [] },
  // It compares signatures with `===`, not in constant time. HTTP is too coarse to measure that, so no case covers it.
  { fault: 'equals', byAnswers: [], byStored: [] },
  { fault: 'any-signature', byAnswers: casesWithInvalidSignature, byStored: ['stored-forged', 'stored-all'] },
  { fault: 'base64', byAnswers: ['good-event'], byStored: [] },
  { fault: 'acknowledges-first', byAnswers: [], byStored: ['stored-first', 'stored-restart'] },
  { fault: 'memory-only', byAnswers: [], byStored: ['stored-restart'] },
  { fault: 'forgets-at-restart', byAnswers: [], byStored: ['stored-restart'] },
  { fault: 'never-dedupes', byAnswers: [], byStored: ['stored-once', 'stored-all', 'stored-restart'] },
  { fault: 'loses-under-load', byAnswers: [], byStored: ['stored-burst', 'stored-all'] },
  // After the first event of a request it ignores all others, even those with a different status.
  {
    fault: 'dedupes-on-request-id',
    byAnswers: [],
    byStored: ['stored-each-status', 'stored-in-order', 'stored-all'],
  },
  // It writes events in pairs, the later one first, and loses an event if it is killed between the two.
  { fault: 'out-of-order', byAnswers: [], byStored: ['stored-in-order'], byChance: ['stored-restart'] },
  {
    fault: 're-serialised',
    byAnswers: [
      'bytes-spaced',
      'bytes-escaped',
      'bytes-newline',
      'body-reformatted',
      'verify-before-parsing',
      'signed-oddities',
    ],
    byStored: ['stored-all'],
  },
  {
    fault: '500-to-repeats',
    byAnswers: ['duplicate', 'duplicate-at-once'],
    byStored: ['stored-once', 'stored-restart'],
  },
  { fault: 'accepts-get', byAnswers: ['method-get'], byStored: [] },
  { fault: 'keeps-forged', byAnswers: [], byStored: ['stored-forged', 'stored-all'] },
  { fault: 'slow', byAnswers: ['in-time'], byStored: [] },
]

export const receiverSecret = 'whsec-of-a-planted-receiver'

export interface ReceiverAddress {
  url: string
  storedUrl: string
  storedFile: string
  /** Command line that runs the receiver in the foreground. */
  commandLine: readonly [program: string, ...string[]]
}

/** Chooses a free port and a file for a receiver in `language` with `fault`, which is not started yet. */
export async function addressOfReceiver(
  language: 'TypeScript' | 'Python',
  fault: string,
): Promise<ReceiverAddress> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const storedFile = join(temporaryFolder(), 'stored.ndjson')
  const [program, script] =
    language === 'Python'
      ? (['python3', 'receiver.py'] as const)
      : ([process.execPath, 'receiver.ts'] as const)
  const commandLine = [program, join(import.meta.dirname, script), `${port}`, storedFile, fault] as const
  const url = `http://127.0.0.1:${port}`
  return { url: `${url}/hook`, storedUrl: `${url}/stored`, storedFile, commandLine }
}
