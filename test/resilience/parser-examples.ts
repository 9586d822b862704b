import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { orderBody } from '../harness/agent-plans.ts'
import { header, headerAndRow } from '../sheets/workbook.ts'

/* Valid inputs of every parser, which parser-inputs.ts changes at random. */

const id = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
const event = `{"event":"request.updated","request_id":"${id}","status":"IN_PROGRESS","error_reason":null}`
const signature = 'a'.repeat(64)
const head = `POST /hook HTTP/1.1\r\nHost: x\r\nX-Service-Signature: ${signature}\r\n`

export const events = [event, `${event}\n${event}\n`]
export const envelopes = [`{"data":{"status":"ok"},"status_message":"SUCCESS","message":"OK"}`]
export const schemas = [
  JSON.stringify({
    package_id: 101,
    recipient: { first_name: { type: 'string', required: true } },
    additional_information: {
      icrc: {
        display_name: 'Check',
        fields: { years: { type: 'integer', required: true, description: 'Years (e.g. 5)' } },
      },
    },
  }),
]
export const rows: Record<string, string[]> = {
  csv: [
    'first_name,last_name,email,phone\nAna,Lee,ana@example.com,+61412345678\n"B ""o""","R\nay",,\n',
    'a;b\n1;2\n',
    'a\tb\n1\t2\n',
  ],
  json: ['[{"first_name":"Ana","checks":{"a":[1,2,{"b":null}]}},{"first_name":"Bo"}]'],
  jsonl: ['{"first_name":"Ana"}\n{"first_name":"Bo","n":1.5e3}\n'],
}

const readWorkbook = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', 'vectors', 'sheets', 'written', name), 'latin1')

/** Files of workbooks in which each character is one byte. */
export const workbooks: Record<string, string[]> = {
  xlsx: [readWorkbook('pandas.xlsx'), readWorkbook('openpyxl.xlsx')],
  ods: [readWorkbook('pandas.ods'), readWorkbook('sheetjs.ods')],
}
/** The rows of an XLSX sheet as XML. */
export const xlsxSheets = [
  headerAndRow('<c r="A2" t="s"><v>2</v></c><c r="B2" s="3"><v>45000.5</v></c>'),
  `${header}<row r="2" hidden="1"><c r="A2" t="inlineStr"><is><r><t>x</t></r></is></c><c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>`,
]
/** The content.xml of an ODS file. */
export const odsContents = [
  `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="1.5"><text:p>1.5</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="2" office:value-type="date" office:date-value="2026-11-22"><text:p>x<text:s text:c="2"/></text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
]
export const captures = [
  `${head}Content-Length: ${event.length}\r\n\r\n${event}`,
  `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n`,
  `> ${head.replaceAll('\r\n', '\r\n> ')}\r\n${event}\n< HTTP/1.1 204\n`,
]
export const logs = [
  JSON.stringify({ headers: { 'x-service-signature': signature }, body: event }),
  JSON.stringify([
    { signature, body: event },
    { signature, body_base64: 'e30=' },
  ]),
]
export const hars = [
  JSON.stringify({
    log: {
      entries: [
        {
          request: {
            method: 'POST',
            headers: [{ name: 'X-Service-Signature', value: signature }],
            postData: { mimeType: 'application/json', text: 'e30=', encoding: 'base64' },
          },
        },
      ],
    },
  }),
]
export const urls = [
  'https://api.example.com',
  'https://api.example.com:8443/base/',
  'http://127.0.0.1:4280',
  'http://user:pass@[::1]:80/x?y#z',
]
export const reportUrls = [
  `https://api.example.com/v1/reports/${id}?t=abc.def`,
  `https://api.example.com/v1/reports/${id}/referees/7?t=abc`,
]
export const stores = [
  'orders.db',
  ':memory:',
  'postgres://hr:secret@db.example.com:5432/hr?sslmode=verify-full',
  'postgresql://[::1]/x?host=/var/run',
]
export const settings = [
  '{"version":1,"current":"work","profiles":{"work":{"base_url":"https://api.example.com","email":"a@b.cc"}},"settings":{"package":"102"}}',
]
export const secrets = [
  '{"version":1,"keys":{"work":"abcdefghijklmnopqrstuvwxyz012345"},"webhook_secrets":{}}',
]
export const plans = [
  `{"refcheck_plan":1,"file":"p.csv","sha256":"${signature}","package_id":102,"rows":[]}`,
  `{"sha256":"${signature}","plan":{"refcheck_order_plan":1,"code":"BCDF-GHJK","made_at":"2026-11-22T10:00:00Z"}}`,
]
const attempt = JSON.stringify([id, id, 1, 102, 'a', 'b', 'c', 1, 'https://api.example.com', 'a@b.cc'])
export const attemptLogs = [
  `\n${createHash('sha256').update(attempt).digest('hex').slice(0, 16)} ${attempt}\t`,
]
export const bodies = [orderBody('Priya'), '{"a":1.0,"b":[true,null,"\\u00e9"],"a":2}']
export const fixtures = [
  'organisations:\n  - name: A\n    users:\n      - email: a@b.cc\n        role: owner\n    packages:\n      - id: 1\n        name: P\n        status: ACTIVE\n',
]
