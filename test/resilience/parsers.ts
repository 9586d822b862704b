import { createHash } from 'node:crypto'

import { signedReportUrl } from '../../src/api/api.ts'
import { parseMoment } from '../../src/cli/flags/values.ts'
import { emailAddress, webhookEvent } from '../../src/contract/request.ts'
import { envelope } from '../../src/contract/envelope.ts'
import { packageSchema } from '../../src/contract/package-schema.ts'
import { maskUrl } from '../../src/contract/url.ts'
import { parseRetryAfter } from '../../src/contract/headers.ts'
import { sign, signingKey, verify as verifies } from '../../src/contract/signature.ts'
import { parseOrderPlan } from '../../src/domain/approval/order-plan.ts'
import { readMapFlags } from '../../src/domain/batch/columns.ts'
import { requestIdsIn } from '../../src/domain/webhook/read-event.ts'
import { parsePlan } from '../../src/domain/batch/plan.ts'
import { parseBodyFile, readJson } from '../../src/domain/form/json-text.ts'
import { parseDraft } from '../../src/domain/form/stored-draft.ts'
import { readRecipientField } from '../../src/domain/form/recipient.ts'
import { parseWindows } from '../../src/domain/quota/windows.ts'
import { parseTemplate } from '../../src/domain/report/template.ts'
import { parseBaseUrl } from '../../src/domain/session/session.ts'
import { settingDefinitions } from '../../src/domain/session/setting-keys.ts'
import { parseStoreAddress } from '../../src/domain/store/address.ts'
import { parseLog } from '../../src/domain/store/attempt-log.ts'
import { parseCapturedRequest, readHar, readLog } from '../../src/domain/webhook/capture.ts'
import { splitCommandLine } from '../../src/domain/wording/pasted-command.ts'
import { verify } from '../../src/exports/webhook.ts'
import { sanitize } from '../../src/host/text.ts'
import { proxySettings, secureUrl } from '../../src/http/transport.ts'
import { parseFixture } from '../../src/sandbox/control/read-inputs.ts'
import { parseSecretsFile, parseSettingsFile } from '../../src/store/config/json-files.ts'
import { collect, openBytes } from '../sheets/table.ts'
import { createWorkbook, zipParts } from '../sheets/workbook.ts'
import * as examples from './parser-examples.ts'

export interface Parser {
  name: string
  examples: readonly string[]
  /** Parses a text; throws a RefcheckError if it is invalid. It may also check the result. */
  read: (text: string) => unknown
  /** A slow parser reads 1/N of the inputs that other parsers read. This is N; 1 by default. */
  oneInputIn?: number
}

const toBytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const key = signingKey('secret')
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const baseUrl = 'https://api.example.com'
const odsType = 'application/vnd.oasis.opendocument.spreadsheet'

/** All parsers of input from a file, the service, a sender of events or a command line. */
export const parsers: readonly Parser[] = [
  { name: 'envelope', examples: examples.envelopes, read: (text) => envelope.safeParse(parseJson(text)) },
  { name: 'schema', examples: examples.schemas, read: (text) => packageSchema.safeParse(parseJson(text)) },
  { name: 'event', examples: examples.events, read: (text) => webhookEvent.safeParse(parseJson(text)) },
  ...['csv', 'json', 'jsonl'].map((kind): Parser => ({
    name: `rows of ${kind}`,
    examples: examples.rows[kind] ?? [],
    read: (text) => readRows(text, `p.${kind}`),
    oneInputIn: 4,
  })),
  ...['xlsx', 'ods'].map((kind): Parser => ({
    name: `rows of ${kind}`,
    examples: examples.workbooks[kind] ?? [],
    read: (text) => readRows(toBytes(text), `p.${kind}`),
    oneInputIn: 10,
  })),
  {
    name: 'sheet of xlsx',
    examples: examples.xlsxSheets,
    read: async (text) => readRows(await createWorkbook(text.toWellFormed()), 'p.xlsx'),
    oneInputIn: 10,
  },
  {
    name: 'content of ods',
    examples: examples.odsContents,
    read: async (text) =>
      readRows(await zipParts({ mimetype: odsType, 'content.xml': text.toWellFormed() }), 'p.ods'),
    oneInputIn: 10,
  },
  { name: 'captured HTTP', examples: examples.captures, read: (text) => parseCapturedRequest(toBytes(text)) },
  { name: 'log', examples: examples.logs, read: (text) => Array.from(readLog(toBytes(text))) },
  { name: 'HAR', examples: examples.hars, read: (text) => Array.from(readHar(toBytes(text))) },
  {
    name: 'signature',
    examples: [sign(toBytes('{}'), key), sign(toBytes('{}'), key).toUpperCase()],
    read(text) {
      if (verifies(toBytes('{}'), text, key) && text !== sign(toBytes('{}'), key)) throw new Error('accepted')
    },
  },
  { name: 'verify of the library', examples: examples.events, read: (text) => verify(text, text, 'secret') },
  {
    name: 'Retry-After',
    examples: ['30', '0', '-1', 'Sun, 22 Nov 2026 10:00:00 GMT', '1.5'],
    read(text) {
      const { seconds } = parseRetryAfter(text)
      if (!(seconds > 0 && seconds <= 3600)) throw new Error(`waits ${seconds} s`)
    },
  },
  { name: 'base URL', examples: examples.urls, read: (text) => parseBaseUrl(text) },
  { name: 'secure URL', examples: examples.urls, read: (text) => secureUrl(text) },
  { name: 'masked URL', examples: examples.urls, read: maskUrl },
  {
    name: 'proxy',
    examples: examples.urls,
    read: (text) => proxySettings({ HTTPS_PROXY: text, NO_PROXY: text }),
  },
  {
    name: 'report URL',
    examples: examples.reportUrls,
    read(text) {
      const { origin, username, password } = signedReportUrl(text, baseUrl)
      if (origin !== baseUrl || username + password !== '') throw new Error(`leads to ${origin}`)
    },
  },
  { name: 'store address', examples: examples.stores, read: parseStoreAddress },
  { name: 'name template', examples: ['{last_name}-{id}.pdf', '{email}/{check_name}'], read: parseTemplate },
  {
    name: 'settings file',
    examples: examples.settings,
    read: (text) => parseSettingsFile('config.json', text),
  },
  {
    name: 'secrets file',
    examples: examples.secrets,
    read: (text) => parseSecretsFile('credentials.json', text),
  },
  {
    name: 'settings',
    examples: ['102', 'reports', 'postgres://a@b/c', 'acme', '4', '5m', 'cp850', 'AU', '24mo'],
    read: (text) => settingDefinitions.map((each) => ignoreOwnErrors(() => each.parse(text))),
  },
  { name: 'plan file', examples: examples.plans, read: (text) => parsePlan(text, 'plan.json') },
  { name: 'order plan', examples: examples.plans, read: (text) => parseOrderPlan(text, 'BCDF-GHJK') },
  { name: 'draft', examples: examples.plans, read: parseDraft },
  {
    name: 'list of attempts',
    examples: examples.attemptLogs,
    read: (text) => parseLog(Buffer.from(text), digest),
  },
  { name: 'body file', examples: examples.bodies, read: (text) => parseBodyFile(toBytes(text)) },
  {
    name: 'JSON text',
    examples: examples.bodies,
    read(text) {
      const { fault } = readJson(text)
      if (fault === undefined) JSON.parse(text)
    },
  },
  { name: 'events file', examples: examples.events, read: (text) => requestIdsIn(text, 'events.ndjson') },
  { name: 'fixture', examples: examples.fixtures, read: parseFixture, oneInputIn: 4 },
  { name: 'quota', examples: ['60/60,1000/3600', ' 1/1 '], read: (text) => parseWindows(text, '--quota') },
  {
    name: 'moment',
    examples: ['2026-11-01', '7d', '2026-11-01T09:30:00Z'],
    read: (text) => parseMoment(text, 0),
  },
  {
    name: 'command words',
    examples: ['a \'b c\' "d"', 'a\\ b'],
    read: (text) => splitCommandLine(text, '--exec'),
  },
  {
    name: 'column mapping',
    examples: ['Given name=first_name'],
    read: (text) => readMapFlags([text], ['Given name']),
  },
  {
    name: 'recipient',
    examples: ['Ana', 'ana@example.com', '+61 412 345 678', '+61 (0)412'],
    read: (text) =>
      (['first_name', 'last_name', 'email', 'phone'] as const).map((name) => readRecipientField(name, text)),
  },
  {
    name: 'e-mail',
    examples: ['ana@example.com', 'a'.repeat(260)],
    read: (text) => emailAddress.safeParse(text),
  },
  {
    name: 'text for a terminal',
    examples: ['Ana', '\u001B[2Jx', 'a\nb'],
    read(text) {
      if (/[\p{Cc}\p{Bidi_Control}]/u.test(sanitize(text))) throw new Error('a raw control')
    },
  },
]

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

async function readRows(content: string | Buffer, name: string): Promise<unknown> {
  const sheet = await openBytes(content, name)
  return collect(sheet.rows())
}

function ignoreOwnErrors(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'hint' in error) return undefined
    throw error
  }
}
