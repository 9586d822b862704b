import { expect, test } from 'vitest'

import { doctorFilters, doctorSession } from '../harness/doctor-session.ts'
import { ManualClock } from '../harness/manual-clock.ts'

test('doctor reports a wrong clock, a setting that would switch off certificate checks, a missing file of certificate authorities, and proxies', async () => {
  const { type } = await doctorSession({
    filters: [...doctorFilters, [/is 3(59\d|600|601) s/g, 'is 3600 s']],
  })
  const clock = new ManualClock({ now: Date.now() + 3_600_000 })
  expect(await type('doctor', { clock })).toMatchInlineSnapshot(`
    $ refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         not created yet; the first order creates it: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    warn  clock         this machine’s clock is 3600 s ahead of the service’s
                        Set it by the network (NTP): orders with an unknown outcome are recognised by their time.
    ok    key           works; olive.owner@example.com is owner
    ok    quota         60 of 60 and 1000 of 1000 calls left, as far as this store knows
    exit 0
  `)
  expect(await type('doctor', { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })).toMatchInlineSnapshot(`
    $ NODE_TLS_REJECT_UNAUTHORIZED=0 refcheck doctor
    2> Warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored for other machines; their certificates are still verified.
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    warn  certificates  NODE_TLS_REJECT_UNAUTHORIZED=0 is set; it is ignored except for this machine’s own addresses
                        Unset it. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.
    ok    proxy         none; calls go directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    ok    quota         59 of 60 and 999 of 1000 calls left, as far as this store knows
    exit 0
  `)
  const env = { NODE_EXTRA_CA_CERTS: '/nowhere.pem', HTTPS_PROXY: 'http://ana:hush@proxy.example.com:3128' }
  expect(await type('doctor', { env })).toMatchInlineSnapshot(`
    $ NODE_EXTRA_CA_CERTS=/nowhere.pem HTTPS_PROXY=http://ana:hush@proxy.example.com:3128 refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    warn  certificates  the file that NODE_EXTRA_CA_CERTS names cannot be read: there is no such file
                        Node ignores it. Correct the path, or unset it.
    ok    proxy         proxy.example.com:3128, from HTTPS_PROXY; this machine’s own addresses are called directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    ok    quota         58 of 60 and 998 of 1000 calls left, as far as this store knows
    exit 0
  `)
  expect(await type('doctor', { env: { HTTPS_PROXY: 'ftp://x' } })).toMatchInlineSnapshot(`
    $ HTTPS_PROXY=ftp://x refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    fail  proxy         HTTPS_PROXY in the environment is not the address of an http or https proxy
                        Set it like this: HTTPS_PROXY=http://proxy.example.com:3128
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    ok    quota         57 of 60 and 997 of 1000 calls left, as far as this store knows
    2> Error: HTTPS_PROXY in the environment is not the address of an http or https proxy
    2> Set it like this: HTTPS_PROXY=http://proxy.example.com:3128
    exit 2
  `)
})
