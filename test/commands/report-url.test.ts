import { readdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const nowhere = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

/** Each in the place of the report URL of the service at `base`. */
const foreign: [string, (base: URL, path: string) => string][] = [
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

test('a report URL that leads elsewhere: exit 2 before a connection, no token told', async () => {
  const { type, url, folder, calls } = await session()
  const told: string[] = []
  for (const [name, form] of foreign) {
    const text = form(new URL(url), `/v1/reports/${nowhere}?t=secrettoken`)
    const argv = ['report', 'download', '--url', text, '--output', 'reports']
    const { code, stdout, stderr } = await type(argv)
    expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: '' })
    expect(stderr).toMatch(/^Error: .+\n.+\n$/)
    expect(stderr).not.toContain('secrettoken')
    told.push(`${name}\n${stderr}`.replaceAll(new URL(url).port, 'PORT'))
  }
  expect(told.join('\n')).toMatchInlineSnapshot(`
    "another host
    Error: the report URL is refused: it leads to https://evil.example, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    plain http elsewhere
    Error: the report URL is refused: it leads to http://evil.example, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another port
    Error: the report URL is refused: it leads to http://127.0.0.1:1, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    https on the port of http
    Error: the report URL is refused: it leads to https://127.0.0.1:PORT, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another name of this machine
    Error: the report URL is refused: it leads to http://localhost:PORT, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another form of its address
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    its address as a number
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    its address in octal
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    its address in IPv6
    Error: the report URL is refused: it leads to http://[::ffff:7f00:1]:PORT, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a user name
    Error: the report URL is refused: it has a user name in it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    our host as a user name
    Error: the report URL is refused: it has a user name in it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a backslash before an @
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    backslashes
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    no scheme
    Error: the report URL is refused: it is not a URL
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a path alone
    Error: the report URL is refused: it is not a URL
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    one slash
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another scheme
    Error: the report URL is refused: it leads to ftp://127.0.0.1:PORT, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a file
    Error: the report URL is refused: it leads to file://, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a script
    Error: the report URL is refused: it leads to javascript://, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    data
    Error: the report URL is refused: it leads to data://, not to http://127.0.0.1:PORT
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    no URL
    Error: the report URL is refused: it is not a URL
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    nothing
    Error: the report URL is refused: it is not a URL
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another path
    Error: the report URL is refused: its path is not that of a report
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a path with dots
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a path with encoded dots
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    two slashes in the path
    Error: the report URL is refused: its path is not that of a report
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    no token
    Error: the report URL is refused: it does not carry exactly one token "t"
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    an empty token
    Error: the report URL is refused: it does not carry exactly one token "t"
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    two tokens
    Error: the report URL is refused: it does not carry exactly one token "t"
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    another parameter
    Error: the report URL is refused: it does not carry exactly one token "t"
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a fragment
    Error: the report URL is refused: it does not carry exactly one token "t"
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a line break
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    upper case
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    a space before it
    Error: the report URL is refused: it is not written as the service writes it
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json

    nine thousand characters
    Error: the report URL is refused: it is longer than 4096 characters
    Read the request again for a fresh URL: refcheck request get REQUEST_ID --json
    "
  `)
  expect(calls()).toEqual([])
  expect(readdirSync(folder)).not.toContain('reports')
})
