import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { signedReportUrl } from '../../src/api/api.ts'
import { InvalidInputError } from '../../src/errors/kinds.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults, nextTurn } from '../http/setup.ts'
import { checkId, startApi } from './setup.ts'

recordForFaultTable('report-url', 'connections elsewhere')

/** The fault table: "report URL on a foreign host (CVE-2025-27152): exact origin and path: 0 foreign connections". */

expectNoProcessFaults()

const base = 'https://api.example.com'
const path = `/v1/reports/${checkId}`
const token = 'eyJhbGciOi.SECRETTOKEN-_~'

test.each([
  [base, `${base}${path}?t=${token}`],
  [base, `${base}${path}/referees/12?t=${token}`],
  [base, `${base}${path}/referees/r-1_a.b~c:d?t=${token}`],
  [base, `${base}${path}/referees/a%20b%40c?t=${token}`],
  [base, `${base}${path}?t=abc+/==`],
  [base, `${base}${path}?t=a%26b%3D`],
  [`${base}:8443`, `${base}:8443${path}?t=${token}`],
  [`${base}/gateway`, `${base}/gateway${path}?t=${token}`],
  [`${base}/gateway/`, `${base}/gateway${path}?t=${token}`],
  ['http://127.0.0.1:4010', `http://127.0.0.1:4010${path}?t=${token}`],
  ['http://[::1]:4010', `http://[::1]:4010${path}?t=${token}`],
])('under %s, %s is called as it is written', (baseUrl, text) => {
  expect(signedReportUrl(text, baseUrl).href).toBe(text)
})

const q = `?t=${token}`

/** URLs that have to be refused where a report URL below `base` is expected, each with its name. */
const hostile: [string, string][] = [
  ['a user name', `https://api.example.com@evil.example${path}${q}`],
  ['a user name of the right host', `https://user@api.example.com${path}${q}`],
  ['a user name and a password', `https://api.example.com:443@evil.example${path}${q}`],
  ['an empty user name', `https://@api.example.com${path}${q}`],
  ['an encoded @', `https://api.example.com%40evil.example${path}${q}`],
  ['another host', `https://evil.example${path}${q}`],
  ['a host that begins like ours', `https://api.example.com.evil.example${path}${q}`],
  ['a host that ends like ours', `https://evilapi.example.com${path}${q}`],
  ['a host below ours', `https://x.api.example.com${path}${q}`],
  ['the host above ours', `https://example.com${path}${q}`],
  ['a trailing dot', `https://api.example.com.${path}${q}`],
  ['another port', `https://api.example.com:8443${path}${q}`],
  ['the default port, written out', `https://api.example.com:443${path}${q}`],
  ['an empty port', `https://api.example.com:${path}${q}`],
  ['plain http', `http://api.example.com${path}${q}`],
  ['plain http on the https port', `http://api.example.com:443${path}${q}`],
  ['no scheme', `//api.example.com${path}${q}`],
  ['a path alone', `${path}${q}`],
  ['one slash', `https:/api.example.com${path}${q}`],
  ['no slash', `https:api.example.com${path}${q}`],
  ['three slashes', `https:///api.example.com${path}${q}`],
  ['backslashes', `https:\\\\api.example.com${path}${q}`],
  ['a backslash before an @', `https://api.example.com\\@evil.example${path}${q}`],
  ['a backslash in the path', `${base}/v1\\reports/${checkId}${q}`],
  ['an upper-case scheme', `HTTPS://api.example.com${path}${q}`],
  ['an upper-case host', `https://API.example.com${path}${q}`],
  ['a Cyrillic letter', `https://\u0430pi.example.com${path}${q}`],
  ['a full-width letter', `https://\uFF41pi.example.com${path}${q}`],
  ['a full-width dot', `https://api\uFF0Eexample.com${path}${q}`],
  ['an encoded letter in the host', `https://%61pi.example.com${path}${q}`],
  ['a soft hyphen', `https://api.exam\u00ADple.com${path}${q}`],
  ['a zero-width space', `https://api.example\u200B.com${path}${q}`],
  ['punycode of another host', `https://xn--pi-7kc.example.com${path}${q}`],
  ['a tab', `https://api.exa\tmple.com${path}${q}`],
  ['a new line', `https://api.example.com/v1/re\nports/${checkId}${q}`],
  ['a line break after it', `${base}${path}${q}\r\n`],
  ['a space before it', ` ${base}${path}${q}`],
  ['a NUL', `${base}${path}\0${q}`],
  ['a path above', `${base}/v1/reports/../users${q}`],
  ['a path above and back', `${base}/v1/x/../reports/${checkId}${q}`],
  ['a path above, encoded', `${base}/v1/reports/%2e%2e/users${q}`],
  ['a path above, half encoded', `${base}/v1/reports/.%2E/users${q}`],
  ['a path above, encoded twice', `${base}${path}/referees/%252e%252e${q}`],
  ['a step to itself', `${base}/v1/./reports/${checkId}${q}`],
  ['an encoded slash', `${base}/v1/reports/a%2F..%2Fusers${q}`],
  ['an encoded slash in a referee', `${base}${path}/referees/a%2f..${q}`],
  ['an encoded backslash in a referee', `${base}${path}/referees/a%5c..${q}`],
  ['an encoded line break in a referee', `${base}${path}/referees/a%0d%0aX${q}`],
  ['two slashes', `${base}//v1/reports/${checkId}${q}`],
  ['two slashes inside', `${base}/v1//reports/${checkId}${q}`],
  ['a slash at the end', `${base}${path}/${q}`],
  ['a semicolon', `${base}${path};x=1${q}`],
  ['another resource', `${base}/v1/users${q}`],
  ['all reports', `${base}/v1/reports${q}`],
  ['no check', `${base}/v1/reports/${q}`],
  ['no referee', `${base}${path}/referees/${q}`],
  ['more below a referee', `${base}${path}/referees/1/x${q}`],
  ['a later version', `${base}/v2/reports/${checkId}${q}`],
  ['a path before the version', `${base}/x${path}${q}`],
  ['no token', `${base}${path}`],
  ['an empty token', `${base}${path}?t=`],
  ['a token without a value', `${base}${path}?t`],
  ['an upper-case token', `${base}${path}?T=${token}`],
  ['two tokens', `${base}${path}${q}&t=other`],
  ['a parameter after', `${base}${path}${q}&x=1`],
  ['a parameter before', `${base}${path}?x=1&t=${token}`],
  ['a parameter after a semicolon', `${base}${path}${q};x=1`],
  ['an encoded name', `${base}${path}?%74=${token}`],
  ['a space in the token', `${base}${path}?t=a b`],
  ['a quotation mark in the token', `${base}${path}?t=a"b`],
  ['a fragment', `${base}${path}${q}#x`],
  ['an empty fragment', `${base}${path}${q}#`],
  ['a token in the fragment', `${base}${path}#${q}`],
  ['data:', `data:application/pdf,${path}${q}`],
  ['file:', `file:///v1/reports/${checkId}${q}`],
  ['javascript:', `javascript:fetch('${path}${q}')`],
  ['blob:', `blob:${base}${path}${q}`],
  ['ftp:', `ftp://api.example.com${path}${q}`],
  ['a number as a host', `https://2130706433${path}${q}`],
  ['loopback', `http://127.0.0.1:4010${path}${q}`],
  ['nothing', ''],
  ['no URL', 'https://'],
  ['5,000 characters', `${base}${path}?t=${'a'.repeat(5_000)}`],
]

test.each(hostile)('%s is refused, and its token not told', (_name, text) => {
  let error: unknown
  try {
    signedReportUrl(text, base)
  } catch (caught) {
    error = caught
  }
  expect(error).toBeInstanceOf(InvalidInputError)
  const { message, hint, field, code } = error as InvalidInputError
  expect({ field, code }).toEqual({ field: 'url', code: 'invalid_input' })
  expect(message).toMatch(/^refused the report URL: /)
  expect(`${message} ${hint}`).not.toContain('SECRETTOKEN')
})

test('a report URL has to start with the whole path of the base URL', () => {
  for (const text of [`${base}${path}${q}`, `${base}/gatewayx${path}${q}`, `${base}/gate${path}${q}`]) {
    expect(() => signedReportUrl(text, `${base}/gateway`)).toThrow('its path is not that of a report')
  }
})

test('a URL with digits of another script in its host or port is refused', () => {
  expect(() => signedReportUrl(`http://127.0.0.1:\u0664010${path}${q}`, 'http://127.0.0.1:4010')).toThrow(
    /refused/,
  )
  expect(() =>
    signedReportUrl(`http://\uFF11\uFF12\uFF17.0.0.1:4010${path}${q}`, 'http://127.0.0.1:4010'),
  ).toThrow(/refused/)
})

test('hostile URLs lead to no connection: not to a foreign port, not to ours', async () => {
  await using foreign = await startRawServer()
  await using server = await startRawServer()
  await using api = startApi(server.origin)
  const here = `127.0.0.1:${server.port}`
  const there = `127.0.0.1:${foreign.port}`
  // Below a base URL in plain http, plain http is not hostile.
  const others = hostile.filter(([name]) => name !== 'plain http')
  const urls = [
    ...others.map(([, text]) => text.replaceAll('api.example.com', here).replaceAll('evil.example', there)),
    ...hostile.map(([, text]) => text.replaceAll('https:', 'http:').replaceAll('api.example.com', there)),
    `http://${here}@${there}${path}${q}`,
    `http://localhost:${server.port}${path}${q}`,
    `http://127.1:${server.port}${path}${q}`,
    `http://0:${server.port}${path}${q}`,
    `http://[::ffff:127.0.0.1]:${server.port}${path}${q}`,
  ]
  for (const url of urls) await expect(api.openSignedReport(url)).rejects.toBeInstanceOf(InvalidInputError)
  await nextTurn()
  expect([foreign.connections, server.connections]).toEqual([0, 0])
  console.log(`${urls.length} hostile report URLs: 0 foreign connections`)
})

test('every accepted URL has the origin and path of a report, and is called exactly as it was given', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      'api.example.com',
      'evil.example',
      '.',
      '..',
      '%2e',
      '%2f',
    ),
    fc.constantFrom(
      'v1',
      'reports',
      'referees',
      checkId,
      '12',
      '?',
      't=',
      'abc',
      '&',
      ';',
      '#',
      ' ',
      '\t',
      '\u0430',
    ),
  )
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
    fc
      .tuple(fc.constantFrom(`${base}${path}`, `${base}${path}/referees/`), fc.array(piece, { maxLength: 5 }))
      .map(([start, pieces]) => start + pieces.join('')),
    fc.array(piece, { maxLength: 3 }).map((pieces) => `${base}${path}${pieces.join('')}?t=abc`),
  )
  let accepted = 0
  const exact = /^https:\/\/api\.example\.com\/v1\/reports\/[^/?#\\@]+(\/referees\/[^/?#\\@]+)?\?t=[^&;#]+$/
  fc.assert(
    fc.property(texts, (text) => {
      let url: URL
      try {
        url = signedReportUrl(text, base)
      } catch (error) {
        return error instanceof InvalidInputError
      }
      accepted += 1
      return url.href === text && exact.test(text)
    }),
    { numRuns: 5_000 },
  )
  expect(accepted).toBeGreaterThan(0)
})
