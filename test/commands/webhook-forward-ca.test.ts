import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { eventBody, postDelivery } from '../harness/deliveries.ts'
import { TIME_OF_DAY } from '../harness/filters.ts'
import { startListening } from '../harness/listening-session.ts'
import { session } from '../harness/session.ts'

const vectors = join(import.meta.dirname, '..', 'vectors', 'tls')

/** Starts a handler with a certificate that no authority of this machine has signed. */
async function startSecureHandler(name: 'self-signed' | 'service') {
  const file = (kind: string): string => readFileSync(join(vectors, `${name}.${kind}`), 'utf8')
  const signatures: string[] = []
  const server = createServer({ cert: file('pem'), key: file('key') }, (request, response) => {
    signatures.push(String(request.headers['x-service-signature']))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { signatures, url: `https://localhost:${(server.address() as AddressInfo).port}/` }
}

test.each([
  ['self-signed', 'self-signed.pem'],
  ['service', 'authority.pem'],
] as const)(
  'events are forwarded to a handler with the certificate %s, if --forward-ca is %s',
  async (name, ca) => {
    const here = await session()
    const handlerApp = await startSecureHandler(name)
    const flags = ['--forward-to', handlerApp.url, '--max-events', '1']
    const receiver = await startListening(here, [...flags, '--forward-ca', join(vectors, ca)])
    expect(
      await postDelivery(receiver.url, here.sandbox.credentials.webhookSecret, { body: eventBody() }),
    ).toBe(204)
    expect((await receiver.ended).code).toBe(0)
    expect(handlerApp.signatures).toHaveLength(1)
    expect((await here.type('webhook events list --json')).json()).toMatchObject([{ forwarded: true }])
  },
)

test('without --forward-ca the certificate is refused, and the event is not forwarded', async () => {
  const here = await session({
    filters: [TIME_OF_DAY, [/localhost:\d+/g, 'localhost:PORT'], [/in \d\.\d s/g, 'in # s']],
  })
  const handlerApp = await startSecureHandler('self-signed')
  const flags = ['--forward-to', handlerApp.url, '--max-attempts', '1', '--max-events', '1']
  const receiver = await startListening(here, flags)
  expect(
    await postDelivery(receiver.url, here.sandbox.credentials.webhookSecret, { body: eventBody() }),
  ).toBe(204)
  expect(await receiver.ended).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --forward-to https://localhost:PORT/ --max-attempts 1 --max-events 1
    2> Listening at http://127.0.0.1:PORT_1/ (Ctrl-C stops it).
    HH:MM:SS  ID_1                                  PARTIAL
    2> Dropped event 1 (ID_1 PARTIAL): its certificate is self-signed. Forward it again with: refcheck webhook events replay 1
    exit 0
  `)
  expect(handlerApp.signatures).toEqual([])
})

test('a --forward-ca file without a certificate, and --forward-ca without --forward-to, are refused', async () => {
  const here = await session()
  here.write('no.pem', 'hello')
  expect(
    await here.all([
      'webhook listen --forward-to https://localhost:1/ --forward-ca no.pem',
      'webhook listen --forward-to https://localhost:1/ --forward-ca none.pem',
      'webhook listen --forward-ca no.pem',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck webhook listen --forward-to https://localhost:1/ --forward-ca no.pem
    2> Error: --forward-ca: no.pem holds no certificate
    2> Give a PEM file with the certificate of the authority, or the self-signed one itself.
    exit 2

    $ refcheck webhook listen --forward-to https://localhost:1/ --forward-ca none.pem
    2> Error: file not found: none.pem
    2> Check the path.
    exit 2

    $ refcheck webhook listen --forward-ca no.pem
    2> Error: --forward-ca requires --forward-to
    2> Show its help with: refcheck webhook listen --help
    exit 2
  `)
})
