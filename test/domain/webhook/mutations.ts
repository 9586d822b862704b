import { createHmac } from 'node:crypto'

import { signingKey } from '../../../src/contract/signature.ts'
import { parseCapturedRequest } from '../../../src/domain/webhook/capture.ts'
import { verifyWith } from '../../../src/domain/webhook/verify.ts'
import { RefcheckError } from '../../../src/errors/kinds.ts'

/** Returns a pseudo-random integer from 0 to below `bound`; the sequence depends only on the seed. */
export type Dice = (bound: number) => number

/** Returns the generator Mulberry32 by Tommy Ettinger (public domain). */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

const secret = 'whsec-of-a-campaign'
const key = signingKey(secret)
const statuses = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED']

interface Original {
  body: Buffer
  signature: string
}

function createOriginal(roll: Dice): Original {
  const status = statuses[roll(statuses.length)] ?? 'ERROR'
  const error_reason = roll(3) === 0 ? 'é/"\\ '.repeat(roll(40)) : undefined
  const value = { event: 'request.updated', request_id: `${roll(1e9)}-0a6f`, status, error_reason }
  const body = Buffer.from(JSON.stringify(value, null, roll(4) === 0 ? 2 : 0))
  return { body, signature: createHmac('sha256', secret).update(body).digest('hex') }
}

type BodyChange = (body: Buffer, roll: Dice) => Buffer
type SignatureChange = (signature: string, roll: Dice, body: Buffer) => string[]

const insertBytes = (body: Buffer, at: number, bytes: Buffer | string): Buffer =>
  Buffer.concat([body.subarray(0, at), Buffer.from(bytes), body.subarray(at)])

/** Changes of a body by name. Some of them occasionally change nothing; such deliveries are not counted. */
const bodyChanges: Readonly<Record<string, BodyChange>> = {
  'a bit flipped'(body, roll) {
    const changed = Buffer.from(body)
    const at = roll(body.length)
    changed[at] = (changed[at] ?? 0) ^ (1 << roll(8))
    return changed
  },
  'a byte replaced'(body, roll) {
    const changed = Buffer.from(body)
    changed[roll(body.length)] = roll(256)
    return changed
  },
  'a byte put in': (body, roll) => insertBytes(body, roll(body.length + 1), Buffer.from([roll(256)])),
  'bytes taken out'(body, roll) {
    const at = roll(body.length)
    return Buffer.concat([body.subarray(0, at), body.subarray(at + 1 + roll(4))])
  },
  'cut short': (body, roll) => body.subarray(0, roll(body.length)),
  'two bytes swapped'(body, roll) {
    const at = roll(body.length - 1)
    const changed = Buffer.from(body)
    changed.set([body[at + 1] ?? 0, body[at] ?? 0], at)
    return changed
  },
  doubled: (body) => Buffer.concat([body, body]),
  'a newline, BOM or NUL around it'(body, roll) {
    const added = ['\n', '\r\n', ' ', '\t', '\0', '\uFEFF'][roll(6)] ?? '\n'
    return insertBytes(body, roll(2) * body.length, added)
  },
  'written anew'(body, roll) {
    const value = JSON.parse(body.toString()) as object
    const reordered = roll(2) === 0 ? value : Object.fromEntries(Object.entries(value).reverse())
    return Buffer.from(JSON.stringify(reordered, null, roll(5)))
  },
  'another status': (body, roll) =>
    Buffer.from(body.toString().replace(/RECEIVED|PARTIAL|ERROR/, statuses[roll(6)] ?? '')),
  'a field more': (body, roll) => Buffer.from(body.toString().replace('{', `{"x${roll(99)}":${roll(9)},`)),
  'another case': (body) => Buffer.from(body.toString().toUpperCase()),
  'another encoding': (body, roll) => Buffer.from(body.toString(), roll(2) === 0 ? 'utf16le' : 'latin1'),
  escaped: (body) => Buffer.from(encodeURIComponent(body.toString())),
  'random bytes': (_body, roll) => Buffer.from(Array.from({ length: roll(200) }, () => roll(256))),
}

const hex = '0123456789abcdef'

const signatureChanges: Readonly<Record<string, SignatureChange>> = {
  none: () => [],
  empty: () => [''],
  'upper case': (good) => [good.toUpperCase()],
  'one letter in upper case'(good, roll) {
    const at = roll(64)
    return [good.slice(0, at) + good.charAt(at).toUpperCase() + good.slice(at + 1)]
  },
  'a digit replaced'(good, roll) {
    const at = roll(64)
    return [good.slice(0, at) + hex.charAt(roll(16)) + good.slice(at + 1)]
  },
  'a character that is no digit'(good, roll) {
    const at = roll(64)
    return [good.slice(0, at) + String.fromCharCode(33 + roll(0x2000)) + good.slice(at + 1)]
  },
  'digits of other scripts': (good) => [
    good.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  ],
  cut: (good, roll) => [good.slice(0, roll(64))],
  'its end alone': (good, roll) => [good.slice(1 + roll(63))],
  longer: (good, roll) => [good + hex.charAt(roll(16)).repeat(1 + roll(64))],
  'something before it': (good, roll) => [
    ['sha256=', 'v1=', '0x', ' ', '\t', '"', '\0', 'hmac '][roll(8)] + good,
  ],
  'something after it': (good, roll) => [good + ['\n', '\r', ' ', ',', ';', '\0', 'zz', '"'][roll(8)]],
  doubled: (good) => [good + good],
  'a list': (good) => [`${good}, ${good}`],
  'two of them': (good) => [good, good],
  'two, one of them wrong': (good, roll) => (roll(2) === 0 ? [good, '0'.repeat(64)] : ['0'.repeat(64), good]),
  base64: (good) => [Buffer.from(good, 'hex').toString('base64')],
  random: (_good, roll) => [Array.from({ length: 64 }, () => hex.charAt(roll(16))).join('')],
  'of another secret': (_good, roll, body) => [
    createHmac('sha256', `${secret}${roll(99)}`)
      .update(body)
      .digest('hex'),
  ],
  'of an empty secret': (_good, _roll, body) => [createHmac('sha256', '').update(body).digest('hex')],
  'another digest': (_good, roll, body) => [
    createHmac(roll(2) === 0 ? 'sha512' : 'sha1', secret)
      .update(body)
      .digest('hex')
      .slice(0, 64),
  ],
  'turned around': (good) => [Array.from(good).reverse().join('')],
  'a word of objects': (_good, roll) => [
    ['__proto__', 'constructor', 'null', 'undefined', 'NaN'][roll(5)] ?? '',
  ],
}

const headChanges: Readonly<Record<string, (lines: string[], roll: Dice) => string[]>> = {
  'the name broken': (lines, roll) =>
    lines.map((line) =>
      line.replace(
        'X-Service-Signature',
        ['X-Service-Signatur', 'X-Signature', 'X_Service_Signature', ''][roll(4)] ?? '',
      ),
    ),
  'the header twice': (lines) => [...lines, ...lines.filter((line) => line.startsWith('X-Service'))],
  'the length too short': (lines, roll) =>
    lines.map((line) =>
      line.replace(
        /^(Content-Length: )(\d+)$/,
        (_line, name: string, length: string) => `${name}${roll(Number(length))}`,
      ),
    ),
  'the length too long': (lines, roll) =>
    lines.map((line) =>
      line.replace(
        /^(Content-Length: )(\d+)$/,
        (_line, name: string, length: string) => `${name}${Number(length) + 1 + roll(99)}`,
      ),
    ),
  'the value folded': (lines) =>
    lines.map((line) => line.replace(/^(X-Service-Signature: .{20})/, '$1\r\n ')),
}

export interface CampaignResult {
  /** Number of mutated deliveries. */
  deliveries: number
  /** Descriptions of the deliveries that were accepted. */
  accepted: string[]
  /** Descriptions of the deliveries whose verification threw an unexpected error. */
  crashes: string[]
  /** Number of different kinds of mutations. */
  kindCount: number
}

/** Parses and verifies `count` mutated deliveries, and returns those that are accepted or throw. */
export function runCampaign(count: number, seed: number): CampaignResult {
  const roll = createDice(seed)
  const accepted: string[] = []
  const crashes: string[] = []
  const kinds = new Set<string>()
  let deliveries = 0
  while (deliveries < count) {
    const from = createOriginal(roll)
    const mutated = mutate(from, roll)
    if (mutated === undefined) continue
    deliveries += 1
    kinds.add(mutated.kind)
    const description = `${mutated.kind} (seed ${seed}, delivery ${deliveries})`
    try {
      if (mutated.isAccepted()) accepted.push(description)
    } catch (error) {
      // A capture that cannot be parsed is correctly refused with a RefcheckError.
      if (!(error instanceof RefcheckError)) crashes.push(`${description}: ${String(error)}`)
    }
  }
  return { deliveries, accepted, crashes, kindCount: kinds.size }
}

interface Mutated {
  kind: string
  isAccepted: () => boolean
}

/** Returns a mutated delivery, or undefined if the mutation changed nothing. */
function mutate(from: Original, roll: Dice): Mutated | undefined {
  const position = roll(20)
  if (position < 8) {
    const [name, change] = chooseEntry(bodyChanges, roll)
    const body = change(from.body, roll)
    return body.equals(from.body) ? undefined : mutation(`body: ${name}`, body, [from.signature], roll)
  }
  if (position < 16) {
    const [name, change] = chooseEntry(signatureChanges, roll)
    const signatures = change(from.signature, roll, from.body)
    if (signatures.length === 1 && signatures[0] === from.signature) return undefined
    return mutation(`signature: ${name}`, from.body, signatures, roll)
  }
  const [name, change] = chooseEntry(headChanges, roll)
  const before = formatHead(from.body, [from.signature])
  const after = change(before, roll)
  return after.join() === before.join()
    ? undefined
    : {
        kind: `head: ${name}`,
        isAccepted: () => verifyWith(parseCapturedRequest(joinRequest(after, from.body)), key).valid,
      }
}

/** Verifies the delivery directly, or as a captured request if the signatures are valid header values. */
function mutation(kind: string, body: Buffer, signatures: string[], roll: Dice): Mutated {
  const isValidHeader = signatures.every((each) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(each))
  if (!isValidHeader || roll(2) === 0)
    return { kind, isAccepted: () => verifyWith({ body, signatures }, key).valid }
  const capture = joinRequest(formatHead(body, signatures), body)
  return { kind: `${kind}, captured`, isAccepted: () => verifyWith(parseCapturedRequest(capture), key).valid }
}

function formatHead(body: Buffer, signatures: string[]): string[] {
  const lines = ['POST /hook HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`]
  return [...lines, ...signatures.map((each) => `X-Service-Signature: ${each}`)]
}

function joinRequest(lines: string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

function chooseEntry<T>(from: Readonly<Record<string, T>>, roll: Dice): [string, T] {
  const entries = Object.entries(from)
  const entry = entries[roll(entries.length)]
  if (entry === undefined) throw new RangeError('there is nothing to choose from')
  return entry
}
