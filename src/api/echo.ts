import { parseJson } from '../contract/parse-json.ts'

interface Secret {
  value: string
  /** What stands in its place. */
  name: string
}

/**
 * The body of an answer without what the call itself sent in confidence: a service, or a proxy that shows what it got,
 * may send it back, and a message goes into the ledger, results files and logs.
 */
export function withoutSecrets(body: Uint8Array, secrets: readonly Secret[]): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const isEscaped = bytes.includes('\\u')
  if (!isEscaped && secrets.every(({ value }) => !bytes.includes(value))) return body
  const text = isEscaped ? plain(bytes.toString('utf8')) : bytes.toString('utf8')
  return Buffer.from(secrets.reduce((rest, { value, name }) => rest.replaceAll(value, `[${name}]`), text))
}

/** JSON may write any letter as \\uXXXX. */
function plain(text: string): string {
  try {
    return JSON.stringify(parseJson(text))
  } catch {
    return text
  }
}
