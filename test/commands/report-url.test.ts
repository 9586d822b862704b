import { readdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('report-url', { mustNotHappen: 'connections elsewhere', titles: /leads elsewhere/ })

const checkId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

/** URLs that have to be refused where a report URL of the service at `base` is expected, each with its name. */
const foreignUrls: [string, (base: URL, path: string) => string][] = [
  ['another host', (_base, path) => `https://evil.example${path}`],
  ['plain http elsewhere', (_base, path) => `http://evil.example${path}`],
  ['another port', (_base, path) => `http://127.0.0.1:1${path}`],
  ['https on the port of http', ({ host }, path) => `https://${host}${path}`],
  ['another name of this machine', ({ port }, path) => `http://localhost:${port}${path}`],
  ['another form of its address', ({ port }, path) => `http://127.1:${port}${path}`],
  ['its address as a number', ({ port }, path) => `http://2130706433:${port}${path}`],
  ['its address in octal', ({ port }, path) => `http://0177.0.0.1:${port}${path}`],
  ['its address in IPv6', ({ port }, path) => `http://[::ffff:127.0.0.1]:${port}${path}`],
  ['a user name', ({ host }, path) => `http://user@${host}${path}`],
  ['our host as a user name', ({ host }, path) => `http://${host}@evil.example${path}`],
  ['a backslash before an @', ({ host }, path) => `http://${host}\\@evil.example${path}`],
  ['backslashes', ({ host }, path) => `http:\\\\${host}${path}`],
  ['no scheme', ({ host }, path) => `//${host}${path}`],
  ['a path alone', (_base, path) => path],
  ['one slash', ({ host }, path) => `http:/${host}${path}`],
  ['another scheme', ({ host }, path) => `ftp://${host}${path}`],
  ['a file', () => 'file:///etc/passwd?t=secrettoken'],
  ['a script', () => 'javascript:alert(1)?t=secrettoken'],
  ['data', () => 'data:application/pdf,%PDF-?t=secrettoken'],
  ['no URL', () => 'not a url secrettoken'],
  ['nothing', () => ' '],
  ['another path', ({ origin }) => `${origin}/v1/users?t=secrettoken`],
  ['a path with dots', ({ origin }) => `${origin}/v1/reports/../users?t=secrettoken`],
  ['a path with encoded dots', ({ origin }) => `${origin}/v1/reports/%2e%2e/users?t=secrettoken`],
  ['two slashes in the path', ({ origin }, path) => `${origin}/${path}`],
  ['no token', ({ origin }, path) => `${origin}${path.replace(/\?.*/, '')}`],
  ['an empty token', ({ origin }, path) => `${origin}${path.replace(/\?.*/, '?t=')}`],
  ['two tokens', ({ origin }, path) => `${origin}${path}&t=secrettoken`],
  ['another parameter', ({ origin }, path) => `${origin}${path}&redirect=https://evil.example`],
  ['a fragment', ({ origin }, path) => `${origin}${path}#secrettoken`],
  ['a line break', ({ origin }, path) => `${origin}${path}\r\nX-Header: secrettoken`],
  ['upper case', ({ origin }, path) => `${origin.toUpperCase()}${path}`],
  ['a space before it', ({ origin }, path) => ` ${origin}${path}`],
  ['nine thousand characters', ({ origin }, path) => `${origin}${path}${'x'.repeat(9000)}`],
]

test('a report URL that leads elsewhere is refused with exit 2 before a connection, and no token is shown', async () => {
  const { type, url, folder, listCalls } = await session()
  const messages: string[] = []
  for (const [name, createUrl] of foreignUrls) {
    const text = createUrl(new URL(url), `/v1/reports/${checkId}?t=secrettoken`)
    const argv = ['report', 'download', '--url', text, '--output', 'reports']
    const { code, stdout, stderr } = await type(argv)
    expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: '' })
    expect(stderr).not.toContain('secrettoken')
    messages.push(`${name}\n${stderr}`.replaceAll(new URL(url).port, 'PORT'))
  }
  expect(messages.join('\n')).toMatchInlineSnapshot(`
    "another host
    Error: refused the report URL: it points to https://evil.example, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    plain http elsewhere
    Error: refused the report URL: it points to http://evil.example, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    another port
    Error: refused the report URL: it points to http://127.0.0.1:1, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    https on the port of http
    Error: refused the report URL: it points to https://127.0.0.1:PORT, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    another name of this machine
    Error: refused the report URL: it points to http://localhost:PORT, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    another form of its address
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    its address as a number
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    its address in octal
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    its address in IPv6
    Error: refused the report URL: it points to http://[::ffff:7f00:1]:PORT, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    a user name
    Error: refused the report URL: it has a user name in it
    Download the report by the id of its check: refcheck report download CHECK_ID

    our host as a user name
    Error: refused the report URL: it has a user name in it
    Download the report by the id of its check: refcheck report download CHECK_ID

    a backslash before an @
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    backslashes
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    no scheme
    Error: refused the report URL: it is not a URL
    Download the report by the id of its check: refcheck report download CHECK_ID

    a path alone
    Error: refused the report URL: it is not a URL
    Download the report by the id of its check: refcheck report download CHECK_ID

    one slash
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    another scheme
    Error: refused the report URL: it points to ftp://127.0.0.1:PORT, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    a file
    Error: refused the report URL: it points to file://, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    a script
    Error: refused the report URL: it points to javascript://, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    data
    Error: refused the report URL: it points to data://, not to http://127.0.0.1:PORT
    Download the report by the id of its check: refcheck report download CHECK_ID

    no URL
    Error: refused the report URL: it is not a URL
    Download the report by the id of its check: refcheck report download CHECK_ID

    nothing
    Error: refused the report URL: it is not a URL
    Download the report by the id of its check: refcheck report download CHECK_ID

    another path
    Error: refused the report URL: its path is not that of a report
    Download the report by the id of its check: refcheck report download CHECK_ID

    a path with dots
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    a path with encoded dots
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    two slashes in the path
    Error: refused the report URL: its path is not that of a report
    Download the report by the id of its check: refcheck report download CHECK_ID

    no token
    Error: refused the report URL: it does not have exactly one token "t"
    Download the report by the id of its check: refcheck report download CHECK_ID

    an empty token
    Error: refused the report URL: it does not have exactly one token "t"
    Download the report by the id of its check: refcheck report download CHECK_ID

    two tokens
    Error: refused the report URL: it does not have exactly one token "t"
    Download the report by the id of its check: refcheck report download CHECK_ID

    another parameter
    Error: refused the report URL: it does not have exactly one token "t"
    Download the report by the id of its check: refcheck report download CHECK_ID

    a fragment
    Error: refused the report URL: it does not have exactly one token "t"
    Download the report by the id of its check: refcheck report download CHECK_ID

    a line break
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    upper case
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    a space before it
    Error: refused the report URL: it differs from the URLs that the service makes
    Download the report by the id of its check: refcheck report download CHECK_ID

    nine thousand characters
    Error: refused the report URL: it is longer than 4096 characters
    Download the report by the id of its check: refcheck report download CHECK_ID
    "
  `)
  expect(listCalls()).toEqual([])
  expect(readdirSync(folder)).not.toContain('reports')
})
