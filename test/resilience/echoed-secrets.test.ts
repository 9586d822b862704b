import { expect, test } from 'vitest'

import { findCanaries, findCanariesInFiles } from '../harness/faults/canary.ts'
import { encodings, inUnicodeEscapes } from '../harness/faults/encodings.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { sampleOf } from '../harness/share.ts'
import { session } from '../harness/session.ts'

const faultRow = recordForFaultTable('echo', { mustNotHappen: 'places with a secret that was sent back' })

/** Each secret contains characters that the encodings change, and a core that all of them but JSON escapes leave unchanged. */
const secrets = {
  key: String.raw`a/b"c\d+e&f%g<CANARYKEY012345678`,
  'webhook secret': String.raw`whsec/"é"\CANARYHOOK0123 +x`,
  'store password': String.raw`pg/"\CANARYSTORE0123`,
  'proxy password': 'px /+CANARYPROXY0123',
  'control token': 'ctl/CANARYCONTROL0123',
}
const token = 'CANARYTOKEN0123+a/b.'
const secretCores = {
  key: 'CANARYKEY',
  'webhook secret': 'CANARYHOOK',
  'store password': 'CANARYSTORE',
  'proxy password': 'CANARYPROXY',
  'control token': 'CANARYCONTROL',
  token: 'CANARYTOKEN',
  'proxy header': Buffer.from(`gate:${secrets['proxy password']}`).toString('base64').slice(4, 24),
}
/** The file in which the key is stored on purpose. */
const secretsFile = /^credentials\.json$/

type Encode = (text: string) => string
interface Echo {
  position: 'a failure' | 'texts' | 'every field'
  encode: Encode
  /** How the answer is written as JSON. */
  write: (answer: unknown) => string
  name: string
}

/** Names of fields of free text, which the program shows. */
const freeText = /^(?:message|.*name|description|job_title|error_reason)$/

function addEcho(value: unknown, echo: string, isEchoed: (key: string) => boolean, key = ''): unknown {
  if (typeof value === 'string') return isEchoed(key) ? `${value} ${echo}` : value
  if (Array.isArray(value)) return value.map((each) => addEcho(each, echo, isEchoed, key))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [name, addEcho(each, echo, isEchoed, name)])
  return { ...(Object.fromEntries(entries) as object), [`unknown ${echo}`]: [echo] }
}

const writers: Record<string, (answer: unknown) => string> = {
  plain: (answer) => JSON.stringify(answer),
  PHP: (answer) => JSON.stringify(answer).replaceAll('/', '\\/').replaceAll('é', '\\u00e9'),
  escaped: (answer) =>
    JSON.stringify(answer).replaceAll(
      /"(?:[^"\\]|\\.)*"/g,
      (text) => `"${inUnicodeEscapes(JSON.parse(text) as string)}"`,
    ),
}

const positions = ['a failure', 'texts', 'every field'] as const
const { plain = JSON.stringify, PHP = plain, escaped = plain } = writers
const keepText: Encode = (text) => text
const echoForms: Pick<Echo, 'encode' | 'write' | 'name'>[] = [
  ...Object.entries(encodings).map(([name, encode]) => ({ name, encode, write: plain })),
  { name: 'answers written by PHP', encode: keepText, write: PHP },
  { name: 'answers in JSON escapes', encode: keepText, write: escaped },
]
const echoes: Echo[] = positions.flatMap((position) =>
  echoForms.map(({ name, encode, write }) => ({ position, name, encode, write })),
)

const person = (name: string): string =>
  `--first-name ${name} --last-name Lee --email ${name}@example.com --phone +61412345678`

test.each(sampleOf(echoes, 9))(
  'a secret that the service returns in $position ($name) is neither shown nor stored',
  async ({ position, encode, write }) => {
    const here = await session()
    const { apiKey } = here.sandbox.credentials
    const exported = {
      REFCHECK_API_KEY: secrets.key,
      REFCHECK_WEBHOOK_SECRET: secrets['webhook secret'],
      PGPASSWORD: secrets['store password'],
      HTTPS_PROXY: `http://gate:${encodeURIComponent(secrets['proxy password'])}@127.0.0.1:9`,
      NO_PROXY: '127.0.0.1',
      REFCHECK_SANDBOX_TOKEN: secrets['control token'],
    }
    let isEchoing = false
    here.intercept(async (request, ask) => {
      const url = request.url.replace(encodeURIComponent(token), '')
      const headers = new Headers(request.headers)
      if (headers.has('x-service-api-key')) headers.set('x-service-api-key', apiKey)
      const body = request.method === 'POST' ? await request.text() : undefined
      const answer = await ask(new Request(url, { method: request.method, headers, ...(body && { body }) }))
      const isFailure = isEchoing && position === 'a failure' && !/\/packages|\/schema/.test(url)
      const isJson = answer.headers.get('content-type')?.includes('json') === true
      if (!isJson && !isFailure) return answer
      const signed = isJson
        ? (await answer.text()).replaceAll('?t=', `?t=${encodeURIComponent(token)}`)
        : '{}'
      const tokens = [...signed.matchAll(/\?t=([^"]*)/g)].map(([, each = '']) => decodeURIComponent(each))
      const basicCredentials = Buffer.from(`gate:${secrets['proxy password']}`).toString('base64')
      // Only a token that the program has received is echoed, because it cannot recognise any other.
      const echoedTokens = isFailure ? [/\?t=(.*)/.exec(request.url)?.[1] ?? ''] : tokens
      const echo = [...Object.values(secrets), basicCredentials, ...echoedTokens].map(encode).join(' ')
      const changed = isFailure
        ? { data: null, status_message: 'client_error', message: `first_name: ${echo}` }
        : addEcho(JSON.parse(signed), echo, (name) => position === 'every field' || freeText.test(name))
      const isChanged = isFailure || (isEchoing && position !== 'a failure')
      return new Response(isChanged ? write(changed) : signed, {
        status: isFailure ? 400 : answer.status,
        headers: { 'content-type': 'application/json', 'x-echo': encodeURIComponent(secrets.key) },
      })
    })
    here.write(
      'people.csv',
      'first_name,last_name,email,phone\nBo,Ray,bo@example.com,+61412345679\nCy,Ray,cy@example.com,+61412345670\n',
    )
    // Makes an order that can be read, and stores the schema, so that the first answer with an echo is the one to an order.
    await here.type(`request create --package 102 ${person('Ana')} --yes`, { exported })
    await here.type('batch validate people.csv --package 102', { exported })
    await here.clock.advance(3_600_000)
    const [request] = here.sandbox.requests()
    const id = request?.request_id ?? ''
    const check = request?.checks.find(({ type }) => type === 'background')?.id ?? ''
    expect(check).not.toBe('')
    isEchoing = true
    const lines = [
      'packages list --verbose',
      'packages list --json',
      'packages list --csv --columns name,background_checks',
      'schema show 102 --refresh',
      'schema show 102 --refresh --json',
      'users list',
      'users list --json',
      `request get ${id}`,
      `request get ${id} --json`,
      `request get ${id} --jq .checks[].report_pdf_url`,
      `request wait ${id} --timeout 1s`,
      'request list --refresh',
      `request create --package 102 ${person('Dee')} --yes`,
      `request create --package 102 ${person('Eve')} --yes --json`,
      'batch run people.csv --package 102 --yes --verbose',
      'batch list --json',
      `report download --request ${id} --output reports --verbose`,
      `report download ${check} --output one.pdf`,
      `report download --url ${here.url}/v1/reports/${check}?t=${encodeURIComponent(token)}x --output two.pdf`,
      `api GET /v1/requests/${id} --include`,
      `api GET /v1/requests/${id} --jq '.data.checks[0].report_pdf_url|split("t=")'`,
      'auth status',
      'status',
      'status --html status.html',
      'quota',
      'doctor --verbose',
      'doctor --report report.json',
    ]
    const found: string[] = []
    let isReplaced = false
    for (const line of lines) {
      const { stdout, stderr } = await here.type(line, { exported })
      found.push(...findCanaries(line.slice(0, 60), stdout + stderr, secretCores))
      isReplaced ||= /\[API key\]/.test(stdout + stderr)
    }
    found.push(...findCanariesInFiles(here.folder, secretCores, secretsFile))
    faultRow.countCases(lines.length + 1, lines.length + 1 - found.length)
    // Shows that the echo reached the program.
    expect(isReplaced).toBe(true)
    expect(found).toEqual([])
  },
)
