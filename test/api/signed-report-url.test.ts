import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { signedReportUrl } from '../../src/api/api.ts'
import { InvalidInputError } from '../../src/errors/kinds.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults, nextTurn } from '../http/setup.ts'
import { checkId, startApi } from './setup.ts'

// The tests of this file are the row `report-url` of the fault table (test/resilience/rows.ts).
recordForFaultTable('report-url', { mustNotHappen: 'connections elsewhere' })

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
])('with the base URL %s, the URL %s is called unchanged', (baseUrl, text) => {
  expect(signedReportUrl(text, baseUrl).href).toBe(text)
})

const query = `?t=${token}`

/** URLs that have to be refused where a report URL below `base` is expected, each with its name. */
const hostileUrls: [string, string][] = [
  ['a user name', `https://api.example.com@evil.example${path}${query}`],
  ['a user name of the right host', `https://user@api.example.com${path}${query}`],
  ['a user name and a password', `https://api.example.com:443@evil.example${path}${query}`],
  ['an empty user name', `https://@api.example.com${path}${query}`],
  ['an encoded @', `https://api.example.com%40evil.example${path}${query}`],
  ['another host', `https://evil.example${path}${query}`],
  ['a host that begins like ours', `https://api.example.com.evil.example${path}${query}`],
  ['a host that ends like ours', `https://evilapi.example.com${path}${query}`],
  ['a host below ours', `https://x.api.example.com${path}${query}`],
  ['the host above ours', `https://example.com${path}${query}`],
  ['a trailing dot', `https://api.example.com.${path}${query}`],
  ['another port', `https://api.example.com:8443${path}${query}`],
  ['the default port, written out', `https://api.example.com:443${path}${query}`],
  ['an empty port', `https://api.example.com:${path}${query}`],
  ['plain http', `http://api.example.com${path}${query}`],
  ['plain http on the https port', `http://api.example.com:443${path}${query}`],
  ['no scheme', `//api.example.com${path}${query}`],
  ['a path alone', `${path}${query}`],
  ['one slash', `https:/api.example.com${path}${query}`],
  ['no slash', `https:api.example.com${path}${query}`],
  ['three slashes', `https:///api.example.com${path}${query}`],
  ['backslashes', `https:\\\\api.example.com${path}${query}`],
  ['a backslash before an @', `https://api.example.com\\@evil.example${path}${query}`],
  ['a backslash in the path', `${base}/v1\\reports/${checkId}${query}`],
  ['an upper-case scheme', `HTTPS://api.example.com${path}${query}`],
  ['an upper-case host', `https://API.example.com${path}${query}`],
  ['a Cyrillic letter', `https://\u0430pi.example.com${path}${query}`],
  ['a full-width letter', `https://\uFF41pi.example.com${path}${query}`],
  ['a full-width dot', `https://api\uFF0Eexample.com${path}${query}`],
  ['an encoded letter in the host', `https://%61pi.example.com${path}${query}`],
  ['a soft hyphen', `https://api.exam\u00ADple.com${path}${query}`],
  ['a zero-width space', `https://api.example\u200B.com${path}${query}`],
  ['punycode of another host', `https://xn--pi-7kc.example.com${path}${query}`],
  ['a tab', `https://api.exa\tmple.com${path}${query}`],
  ['a new line', `https://api.example.com/v1/re\nports/${checkId}${query}`],
  ['a line break after it', `${base}${path}${query}\r\n`],
  ['a space before it', ` ${base}${path}${query}`],
  ['a NUL', `${base}${path}\0${query}`],
  ['a path above', `${base}/v1/reports/../users${query}`],
  ['a path above and back', `${base}/v1/x/../reports/${checkId}${query}`],
  ['a path above, encoded', `${base}/v1/reports/%2e%2e/users${query}`],
  ['a path above, half encoded', `${base}/v1/reports/.%2E/users${query}`],
  ['a path above, encoded twice', `${base}${path}/referees/%252e%252e${query}`],
  ['a step to itself', `${base}/v1/./reports/${checkId}${query}`],
  ['an encoded slash', `${base}/v1/reports/a%2F..%2Fusers${query}`],
  ['an encoded slash in a referee', `${base}${path}/referees/a%2f..${query}`],
  ['an encoded backslash in a referee', `${base}${path}/referees/a%5c..${query}`],
  ['an encoded line break in a referee', `${base}${path}/referees/a%0d%0aX${query}`],
  ['two slashes', `${base}//v1/reports/${checkId}${query}`],
  ['two slashes inside', `${base}/v1//reports/${checkId}${query}`],
  ['a slash at the end', `${base}${path}/${query}`],
  ['a semicolon', `${base}${path};x=1${query}`],
  ['another resource', `${base}/v1/users${query}`],
  ['all reports', `${base}/v1/reports${query}`],
  ['no check', `${base}/v1/reports/${query}`],
  ['no referee', `${base}${path}/referees/${query}`],
  ['more below a referee', `${base}${path}/referees/1/x${query}`],
  ['a later version', `${base}/v2/reports/${checkId}${query}`],
  ['a path before the version', `${base}/x${path}${query}`],
  ['no token', `${base}${path}`],
  ['an empty token', `${base}${path}?t=`],
  ['a token without a value', `${base}${path}?t`],
  ['an upper-case token', `${base}${path}?T=${token}`],
  ['two tokens', `${base}${path}${query}&t=other`],
  ['a parameter after', `${base}${path}${query}&x=1`],
  ['a parameter before', `${base}${path}?x=1&t=${token}`],
  ['a parameter after a semicolon', `${base}${path}${query};x=1`],
  ['an encoded name', `${base}${path}?%74=${token}`],
  ['a space in the token', `${base}${path}?t=a b`],
  ['a quotation mark in the token', `${base}${path}?t=a"b`],
  ['a fragment', `${base}${path}${query}#x`],
  ['an empty fragment', `${base}${path}${query}#`],
  ['a token in the fragment', `${base}${path}#${query}`],
  ['data:', `data:application/pdf,${path}${query}`],
  ['file:', `file:///v1/reports/${checkId}${query}`],
  ['javascript:', `javascript:fetch('${path}${query}')`],
  ['blob:', `blob:${base}${path}${query}`],
  ['ftp:', `ftp://api.example.com${path}${query}`],
  ['a number as a host', `https://2130706433${path}${query}`],
  ['loopback', `http://127.0.0.1:4010${path}${query}`],
  ['nothing', ''],
  ['no URL', 'https://'],
  ['5,000 characters', `${base}${path}?t=${'a'.repeat(5_000)}`],
]

test.each(hostileUrls)(
  'a URL with %s is refused, and the error does not contain its token',
  (_name, text) => {
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
  },
)

test('a report URL has to start with the whole path of the base URL', () => {
  for (const text of [
    `${base}${path}${query}`,
    `${base}/gatewayx${path}${query}`,
    `${base}/gate${path}${query}`,
  ]) {
    expect(() => signedReportUrl(text, `${base}/gateway`)).toThrow('its path is not that of a report')
  }
})

test('a URL with digits of another script in its host or port is refused', () => {
  expect(() => signedReportUrl(`http://127.0.0.1:\u0664010${path}${query}`, 'http://127.0.0.1:4010')).toThrow(
    /refused/,
  )
  expect(() =>
    signedReportUrl(`http://\uFF11\uFF12\uFF17.0.0.1:4010${path}${query}`, 'http://127.0.0.1:4010'),
  ).toThrow(/refused/)
})

test('hostile URLs cause no connection, neither to a foreign port nor to that of the service', async () => {
  await using foreign = await startRawServer()
  await using server = await startRawServer()
  await using api = startApi(server.origin)
  const ownHost = `127.0.0.1:${server.port}`
  const foreignHost = `127.0.0.1:${foreign.port}`
  // Below a base URL in plain http, plain http is not hostile.
  const hostileForHttp = hostileUrls.filter(([name]) => name !== 'plain http')
  const urls = [
    ...hostileForHttp.map(([, text]) =>
      text.replaceAll('api.example.com', ownHost).replaceAll('evil.example', foreignHost),
    ),
    ...hostileUrls.map(([, text]) =>
      text.replaceAll('https:', 'http:').replaceAll('api.example.com', foreignHost),
    ),
    `http://${ownHost}@${foreignHost}${path}${query}`,
    `http://localhost:${server.port}${path}${query}`,
    `http://127.1:${server.port}${path}${query}`,
    `http://0:${server.port}${path}${query}`,
    `http://[::ffff:127.0.0.1]:${server.port}${path}${query}`,
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
  const exactForm =
    /^https:\/\/api\.example\.com\/v1\/reports\/[^/?#\\@]+(\/referees\/[^/?#\\@]+)?\?t=[^&;#]+$/
  fc.assert(
    fc.property(texts, (text) => {
      let url: URL
      try {
        url = signedReportUrl(text, base)
      } catch (error) {
        return error instanceof InvalidInputError
      }
      accepted += 1
      return url.href === text && exactForm.test(text)
    }),
    { numRuns: 5_000 },
  )
  expect(accepted).toBeGreaterThan(0)
})
