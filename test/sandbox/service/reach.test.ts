import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { httpDeliver } from '../../../src/sandbox/service/delivery.ts'
import { parseNetworks, type RemoteAccess } from '../../../src/sandbox/service/gateway.ts'
import { listen } from '../../../src/server/listen.ts'
import { hour, refusal, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const remoteAccess: RemoteAccess = {
  networks: parseNetworks(['172.16.0.0/12', 'fd00::/8'], '--allow-http-from'),
  publicUrl: undefined,
  controlToken: 'token',
}

const connectionFrom = (remoteAddress: string) => ({
  remoteAddress,
  cut: () => {},
  sendPartAndClose: () => {},
})

test.each([
  ['172.18.0.3', true],
  ['::ffff:172.31.255.255', true],
  ['fd12::1', true],
  ['127.0.0.1', true],
  ['::1', true],
  ['172.32.0.1', false],
  ['192.0.2.7', false],
  ['fe80::1', false],
  ['', false],
])('the networks, which include this machine, contain the address %s: %j', (address, isContained) => {
  expect(remoteAccess.networks.has(address)).toBe(isContained)
})

test.each(['', '10.0.0.0/', '10.0.0.0/33', '10.0.0/8', '::/129', '10.0.0.0/8/8', 'example.com'])(
  'the network %j is refused',
  (text) => {
    expect(() => parseNetworks([text], '--allow-http-from')).toThrow(
      `--allow-http-from: "${text}" is not a network`,
    )
  },
)

test('plain HTTP is accepted only from the given networks, whatever the Host header is', async () => {
  const { sandbox, authHeaders } = createSandboxClient({ remoteAccess })
  const call = async (host: string, remoteAddress: string) => {
    const request = new Request(`http://${host}:4280/v1/users`, { headers: authHeaders() })
    const answer = await sandbox.fetch(request, connectionFrom(remoteAddress))
    return [answer.status, await answer.json()] as const
  }
  expect((await call('sandbox', '172.18.0.3'))[0]).toBe(200)
  expect((await call('127.0.0.1', '127.0.0.1'))[0]).toBe(200)
  const httpRefusal = [400, refusal('plain HTTP requests are rejected; use HTTPS')]
  expect(await call('sandbox', '192.0.2.7')).toEqual(httpRefusal)
  expect(await call('127.0.0.1', '192.0.2.7')).toEqual(httpRefusal)
})

test('report URLs lead to the public URL, and the OpenAPI document names it', async () => {
  const publicUrl = 'https://ci.example/sandbox'
  const client = createSandboxClient({ remoteAccess: { ...remoteAccess, publicUrl } })
  const id = await client.order()
  await client.clock.advance(hour)
  const [check] = (await client.read(id)).checks
  expect(check?.report_pdf_url).toMatch(new RegExp(`^${publicUrl}/v1/reports/${check?.id}\\?t=`))
  expect(JSON.parse((await client.get('/openapi.json')).bytes.toString())).toMatchObject({
    servers: [{ url: publicUrl }],
  })
})

test('with a control token, control requires it as bearer token or password and refuses foreign pages', async () => {
  const { sandbox } = createSandboxClient({
    remoteAccess: { ...remoteAccess, publicUrl: 'https://ci.example' },
  })
  const call = async (
    headers: Record<string, string>,
    remoteAddress = '172.18.0.3',
    path = '_sandbox/state',
  ) => {
    const answer = await sandbox.fetch(
      new Request(`http://sandbox:4280/${path}`, { headers }),
      connectionFrom(remoteAddress),
    )
    return answer.status
  }
  const bearer = { Authorization: 'Bearer token' }
  expect(await call(bearer)).toBe(200)
  expect(await call({ Authorization: `Basic ${btoa('anybody:token')}` }, '127.0.0.1', '')).toBe(200)
  expect(await call({ ...bearer, Origin: 'https://ci.example' })).toBe(200)
  // A proxy on this machine forwards the calls of other machines from the loopback address.
  for (const path of ['', '_sandbox/state', '_sandbox/snapshot', '_sandbox/page.js']) {
    expect(await call({}, '127.0.0.1', path)).toBe(401)
  }
  expect(await call({ Authorization: 'Bearer tokens' })).toBe(401)
  expect(await call({ Authorization: 'Bearer' })).toBe(401)
  expect(await call({ ...bearer, Origin: 'https://evil.example' })).toBe(403)
  expect(await call(bearer, '192.0.2.7')).toBe(400)
})

test('without the token, the page is a 401 for which a browser asks the user for a password', async () => {
  const { sandbox } = createSandboxClient({ remoteAccess })
  const answer = await sandbox.fetch(new Request('http://127.0.0.1:4280/'))
  expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
    401,
    'Basic realm="refcheck sandbox", charset="UTF-8"',
  ])
})

test('over a real connection, control needs the token and the service does not', async () => {
  const sandbox = createSandbox({ clock: systemClock, remoteAccess })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection), {
    host: '0.0.0.0',
  })
  onTestFinished(async () => {
    await listener.close()
    sandbox.close()
  })
  const url = `http://127.0.0.1:${listener.port}`
  expect((await fetch(`${url}/v1/ping`)).status).toBe(200)
  expect((await fetch(`${url}/_sandbox/state`)).status).toBe(401)
})

test('a webhook in a given network is called over HTTP, and a webhook elsewhere is not', async () => {
  const receiver = createServer((_request, response) => void response.writeHead(204).end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const { port } = receiver.address() as AddressInfo
  const deliver = httpDeliver(systemClock, remoteAccess.networks)
  const deliverTo = (host: string) =>
    deliver(`http://${host}:${port}/in`, {}, Buffer.from('{}'), new AbortController().signal)
  expect(await deliverTo('127.0.0.1')).toBe(204)
  // This spelling of the loopback address is not recognised by its text, so that it is looked up like a host name.
  expect(await deliverTo('[::ffff:127.0.0.1]')).toBe(204)
  await expect(deliverTo('192.0.2.7')).rejects.toThrow('192.0.2.7 is at 192.0.2.7, where http is not allowed')
  const { sandbox } = createSandboxClient({ remoteAccess })
  sandbox.setWebhook('http://app:3000/hooks')
  expect(sandbox.overview().webhook_url).toBe('http://app:3000/hooks')
  expect((await createSandboxClient({ remoteAccess }).post(simpleOrder)).status).toBe(201)
})
