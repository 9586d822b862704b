import { sign, signingKey } from '../../contract/signature.ts'
import type { CapturedDelivery } from './capture.ts'
import { type BodyVariant, bodyVariants } from './variants.ts'

/** What probably happened to a delivery that is not valid. It stays invalid. */
export interface Diagnosis {
  /** For scripts: `trailing_newline_added`, `signature_upper_case`, `other_secret` … */
  cause: string
  message: string
}

/** A secret that is not the one in use, by words that complete "it would match with". */
export interface OtherSecret {
  name: string
  secret: string | Uint8Array
}

/** What a signature may have been, and what was done to it since. */
interface SignatureVariant {
  hex: string
  cause: string | undefined
  text: string | undefined
}

/** A signature of which this much is there is told from a stranger's. */
const leastCut = 16

/**
 * Tries what commonly happens to a body, a signature or a secret in transit, and names the first
 * that would match; undefined where none does.
 */
export function diagnose(
  delivery: CapturedDelivery,
  secret: string,
  others: readonly OtherSecret[] = [],
): Diagnosis | undefined {
  const signatures = delivery.signatures.flatMap((each) => [...signatureVariants(each)])
  if (signatures.length === 0) return undefined
  const several = delivery.signatures.length > 1
  const plain: BodyVariant = { cause: '', text: '', bytes: delivery.body }
  const own = { name: '', secret }
  for (const candidate of [own, ...others, ...readings(secret)]) {
    if (candidate.secret.length === 0) continue
    const key = signingKey(candidate.secret)
    for (const body of withVariants(plain, candidate === own)) {
      const expected = sign(body.bytes, key)
      const found = signatures.find(({ hex }) => matches(expected, hex))
      if (found !== undefined) return told(body, candidate, found, { several, expected })
    }
  }
  return undefined
}

function* withVariants(plain: BodyVariant, all: boolean): Generator<BodyVariant> {
  yield plain
  for (const variant of bodyVariants(plain.bytes)) {
    if (all || /newline|byte_order/.test(variant.cause)) yield variant
  }
}

function matches(expected: string, hex: string): boolean {
  return hex === expected || (hex.length >= leastCut && hex.length < 64 && expected.startsWith(hex))
}

function told(
  body: BodyVariant,
  { name }: OtherSecret,
  signature: SignatureVariant,
  { several, expected }: { several: boolean; expected: string },
): Diagnosis {
  const isCut = signature.hex.length < expected.length
  const parts = [
    name === '' ? '' : `with ${name}`,
    body.text,
    signature.text === undefined ? '' : `with its signature ${signature.text}`,
    isCut ? 'with the rest of its signature, which was cut' : '',
    several ? 'with that one signature alone; the service sends one' : '',
  ].filter((part) => part !== '')
  const causes = [
    name === '' ? '' : 'other_secret',
    body.cause,
    signature.cause ?? '',
    isCut ? 'signature_cut' : '',
    several ? 'signature_repeated' : '',
  ]
  return {
    cause: causes.find((cause) => cause !== '') ?? 'unknown',
    message: `It would match ${parts.join(', and ')}.`,
  }
}

/** A signature as it stands, and freed from what is often put around it. */
function* signatureVariants(text: string): Generator<SignatureVariant> {
  const changes: [cause: string, text: string, change: (text: string) => string][] = [
    [
      'signature_prefixed',
      'without its prefix',
      (each) => each.replace(/^\s*(?:t=\d+,)?(?:hmac-?)?(?:sha-?256|v\d|hex)[=:]/i, ''),
    ],
    ['signature_repeated', 'once instead of twice', once],
    ['signature_white_space', 'without white space', (each) => each.replace(/\s+/g, '')],
    ['signature_quoted', 'without quotes', (each) => each.replace(/^["'`]|["'`]$/g, '')],
    ['signature_base64', 'in hexadecimal instead of base64', asHex],
    ['signature_upper_case', 'in lower case', (each) => each.toLowerCase()],
  ]
  let hex = text.slice(0, 1024)
  let cause: string | undefined
  const texts: string[] = []
  for (const [changeCause, words, change] of changes) {
    const changed = change(hex)
    if (changed === hex) continue
    hex = changed
    cause ??= changeCause
    texts.push(words)
  }
  yield { hex, cause, text: texts.length === 0 ? undefined : texts.join(' and ') }
}

function once(text: string): string {
  const [first = '', ...more] = text.split(/(?<!\s)\s*[,;]\s*/)
  if (more.length > 0) return first
  const half = text.slice(0, text.length / 2)
  return text.length === 128 && half === text.slice(64) ? half : text
}

function asHex(text: string): string {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64').toString('hex') : text
}

/** The secret in use, read another way than as the text it is. */
function readings(secret: string): OtherSecret[] {
  const bare = secret.replace(/^whsec_/, '')
  const found: OtherSecret[] = [
    { name: 'a newline after the secret', secret: `${secret}\n` },
    { name: 'the secret without the white space around it', secret: secret.trim() },
    { name: 'the secret without the quotes around it', secret: secret.replace(/^(["'`])(.*)\1$/s, '$2') },
    { name: 'the secret in double quotes', secret: `"${secret}"` },
    { name: 'the secret in single quotes', secret: `'${secret}'` },
    { name: 'the secret without "whsec_"', secret: bare },
  ]
  if (/^(?:[0-9a-f]{2}){8,}$/i.test(bare)) {
    found.push({ name: 'the secret decoded from hexadecimal', secret: Buffer.from(bare, 'hex') })
  }
  if (/^[A-Za-z0-9+/_-]{12,}={0,2}$/.test(bare)) {
    found.push({ name: 'the secret decoded from base64', secret: Buffer.from(bare, 'base64') })
  }
  return found
}
