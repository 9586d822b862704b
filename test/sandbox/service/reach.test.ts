import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { httpDeliver } from '../../../src/sandbox/service/delivery.ts'
import { parseNetworks, type Reach } from '../../../src/sandbox/service/gateway.ts'
import { listen } from '../../../src/server/listen.ts'
import { hour, refusal, simpleOrder, visit } from '../visit.ts'

const reach: Reach = {
  networks: parseNetworks(['172.16.0.0/12', 'fd00::/8'], '--allow-http-from'),
  publicUrl: undefined,
  controlToken: 'token',
}

const from = (remoteAddress: string) => ({ remoteAddress, cut: () => {}, cutShort: () => {} })

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
])('a network has its addresses and this machine’s: %s %j', (address, has) => {
  expect(reach.networks.has(address)).toBe(has)
})

test.each(['', '10.0.0.0/', '10.0.0.0/33', '10.0.0/8', '::/129', '10.0.0.0/8/8', 'example.com'])(
  '%j is no network',
  (text) => {
    expect(() => parseNetworks([text], '--allow-http-from')).toThrow(
      `--allow-http-from: "${text}" is not a network`,
    )
  },
)

test('plain http is taken from the networks that were named, whatever the Host says, and from no other', async () => {
  const { sandbox, signedIn } = visit({ reach })
  const ask = async (host: string, remoteAddress: string) => {
    const request = new Request(`http://${host}:4280/v1/users`, { headers: signedIn() })
    const answer = await sandbox.fetch(request, from(remoteAddress))
    return [answer.status, await answer.json()] as const
  }
  expect((await ask('sandbox', '172.18.0.3'))[0]).toBe(200)
  expect((await ask('127.0.0.1', '127.0.0.1'))[0]).toBe(200)
  const rejected = [400, refusal('plain HTTP requests are rejected; use HTTPS')]
  expect(await ask('sandbox', '192.0.2.7')).toEqual(rejected)
  expect(await ask('127.0.0.1', '192.0.2.7')).toEqual(rejected)
})

test('report URLs lead to the public URL, and the OpenAPI document names it', async () => {
  const publicUrl = 'https://ci.example/sandbox'
  const here = visit({ reach: { ...reach, publicUrl } })
  const id = await here.order()
  await here.clock.advance(hour)
  const [check] = (await here.read(id)).checks
  expect(check?.report_pdf_url).toMatch(new RegExp(`^${publicUrl}/v1/reports/${check?.id}\\?t=`))
  expect(JSON.parse((await here.get('/openapi.json')).bytes.toString())).toMatchObject({
    servers: [{ url: publicUrl }],
  })
})

test('control where others can reach it: the token, as a bearer or a password, and no foreign page', async () => {
  const { sandbox } = visit({ reach: { ...reach, publicUrl: 'https://ci.example' } })
  const ask = async (
    headers: Record<string, string>,
    remoteAddress = '172.18.0.3',
    path = '_sandbox/state',
  ) => {
    const answer = await sandbox.fetch(
      new Request(`http://sandbox:4280/${path}`, { headers }),
      from(remoteAddress),
    )
    return answer.status
  }
  const bearer = { Authorization: 'Bearer token' }
  expect(await ask(bearer)).toBe(200)
  expect(await ask({ Authorization: `Basic ${btoa('anybody:token')}` }, '127.0.0.1', '')).toBe(200)
  expect(await ask({ ...bearer, Origin: 'https://ci.example' })).toBe(200)
  // A proxy on the same machine comes from there too.
  for (const path of ['', '_sandbox/state', '_sandbox/snapshot', '_sandbox/page.js']) {
    expect(await ask({}, '127.0.0.1', path)).toBe(401)
  }
  expect(await ask({ Authorization: 'Bearer tokens' })).toBe(401)
  expect(await ask({ Authorization: 'Bearer' })).toBe(401)
  expect(await ask({ ...bearer, Origin: 'https://evil.example' })).toBe(403)
  expect(await ask(bearer, '192.0.2.7')).toBe(400)
})

test('a browser is asked for the token', async () => {
  const { sandbox } = visit({ reach })
  const answer = await sandbox.fetch(new Request('http://127.0.0.1:4280/'))
  expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
    401,
    'Basic realm="refcheck sandbox", charset="UTF-8"',
  ])
})

test('it is called by http over a real connection', async () => {
  const sandbox = createSandbox({ clock: systemClock, reach })
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

test('a webhook of a named network is called by http, one elsewhere is not', async () => {
  const receiver = createServer((_request, response) => void response.writeHead(204).end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const { port } = receiver.address() as AddressInfo
  const deliver = httpDeliver(systemClock, reach.networks)
  const post = (host: string) =>
    deliver(`http://${host}:${port}/in`, {}, Buffer.from('{}'), new AbortController().signal)
  expect(await post('127.0.0.1')).toBe(204)
  // No name of this machine by its form: it is looked up, as a container's is.
  expect(await post('[::ffff:127.0.0.1]')).toBe(204)
  await expect(post('192.0.2.7')).rejects.toThrow('192.0.2.7 is at 192.0.2.7, where http is not allowed')
  const { sandbox } = visit({ reach })
  sandbox.setWebhook('http://app:3000/hooks')
  expect(sandbox.overview().webhook_url).toBe('http://app:3000/hooks')
  expect((await visit({ reach }).post(simpleOrder)).status).toBe(201)
})
