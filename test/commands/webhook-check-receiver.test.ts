import { SaxesParser } from 'saxes'
import { expect, test } from 'vitest'

import { handler } from '../usecases/webhook/receivers/handler.ts'
import { webhookSession, startGoodReceiver } from '../harness/webhook-session.ts'

test('check-receiver passes a correct receiver, and reports first what it will send', async () => {
  const { webhook } = await webhookSession()
  const url = await handler({})()
  expect(await webhook(`check-receiver ${url}`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    passed  good-event  a good event
    passed  every-status  every status of the document
    passed  error-with-reason  ERROR with its reason
    passed  error-without-reason  ERROR without a reason
    passed  error-reason-odd  reasons that are long, quoted, of many lines
    passed  bytes-spaced  a good signature over JSON with spaces and indents
    passed  bytes-escaped  a good signature over JSON with \\u and \\/ escapes
    passed  bytes-utf8  a good signature over UTF-8 that is not ASCII
    passed  bytes-order  a good signature over fields in another order
    passed  bytes-newline  a good signature over a body with line ends of its own
    passed  header-case  the header’s name in lower case, as proxies write it
    passed  chunked  a chunked body, cut inside a character
    passed  content-type-charset  Content-Type: application/json; charset=utf-8
    passed  duplicate  the same event twice
    passed  duplicate-at-once  the same event four times at once
    passed  out-of-order  PARTIAL after COMPLETED, of the same request
    passed  extra-fields  fields that later versions may add
    passed  unknown-status  a status that is not in the document
    passed  unknown-event  an event that is not in the document
    passed  signature-missing  no signature
    passed  signature-empty  an empty signature
    passed  signature-wrong  a signature made with another secret
    passed  signature-upper-case  the signature in upper case
    passed  signature-base64  the signature in base64
    passed  signature-prefixed  the signature after "sha256="
    passed  signature-doubled  the signature twice: in one value, and in two headers
    passed  signature-cut  the first part of the signature
    passed  signature-longer  the signature with something after it
    passed  signature-not-hex  characters that are not hexadecimal
    passed  body-edited  an edited body under the signature of the one that was sent
    passed  body-reformatted  the same JSON in other bytes
    passed  verify-before-parsing  a forged body that is not JSON
    passed  method-get  GET in place of POST
    passed  burst  100 events side by side
    passed  signed-oddities  bodies with a good signature that are no event
    passed  still-good  a good event after all that
    passed  in-time  an answer in time
    not judged  whether it compares in constant time cannot be seen: a signature that is wrong only in its last character was refused later than one that is wrong in its first in # of 60 pairs, which may be noise
            constant-time
    not judged  answered 2xx; whether it was stored once cannot be seen: add --stored-url URL or --stored-file FILE
            stored-first, stored-once, stored-each-status, stored-in-order, stored-burst, stored-forged, stored-all, stored-restart

    passed  http://127.0.0.1:PORT_1/hook: 37 passed, 0 with advice, 0 failed, 9 not judged. 289 deliveries; the slowest acceptance took # ms.
    exit 0
  `)
})

test('check-receiver prints each fault with its rule and the receiver’s answer, and exits with 10', async () => {
  const { webhook } = await webhookSession()
  const url = await handler({ statusFor: (body) => (body.includes('CANCELLED') ? 400 : 204) })()
  expect(await webhook(`check-receiver ${url} --only every`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --only every
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    FAILED  every-status  every status of the document
            "status: RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED."
            - CANCELLED: answered 400 in # ms; expected a 2xx

    failed  http://127.0.0.1:PORT_1/hook: 0 passed, 0 with advice, 1 failed, 0 not judged. 6 deliveries; the slowest acceptance took # ms.
    2> Error: the receiver failed 1 of 1 case
    2> Each is listed above with the rule of the API document that it breaks.
    exit 10
  `)
})

test('check-receiver --json and --junit report the same results', async () => {
  const { webhook, read } = await webhookSession()
  const answerTo = (body: Buffer): number => (body.includes('ON_HOLD') ? 400 : 204)
  const url = await handler({ isSignatureValid: () => true, statusFor: answerTo })()
  const onlyFlags = '--only signature --only unknown-status'
  const { code, json } = await webhook(`check-receiver ${url} --json --junit report.xml ${onlyFlags}`)
  expect(code).toBe(10)
  expect(json()).toMatchObject({
    url,
    passed: false,
    counts: { cases: 11, passed: 0, advised: 3, failed: 8, not_judged: 0 },
    error: { code: 'incomplete', message: 'the receiver failed 8 of 11 cases' },
  })
  const names: string[] = []
  const kinds: string[] = []
  let sums: unknown
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'testcase') names.push(attributes['name'] ?? '')
    else kinds.push(name)
    if (name === 'testsuites') sums = attributes
  })
  parser.write(read('report.xml')).close()
  expect(sums).toMatchObject({ tests: '11', failures: '8', skipped: '0' })
  expect(names[0]).toBe('unknown-status: a status that is not in the document')
  expect(names).toHaveLength(11)
  expect(kinds.filter((name) => name === 'failure')).toHaveLength(8)
  expect(kinds.filter((name) => name === 'system-out')).toHaveLength(3)
})

test('an answer of the receiver cannot break the JUnit file, and the results are printed even if --junit fails', async () => {
  const { webhook, read } = await webhookSession()
  const answer = '<b>"&\u0000\u001B[31m]]>\uFFFF</b>'
  const url = await handler({ answer: (response) => void response.writeHead(500).end(answer) })()
  expect(await webhook(`check-receiver ${url} --only good --junit report.xml`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --only good --junit report.xml
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    FAILED  good-event  a good event
            "The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure."
            - answered 500 "<b>"&�]]>￿</b>" in # ms; expected a 2xx

    failed  http://127.0.0.1:PORT_1/hook: 0 passed, 0 with advice, 1 failed, 0 not judged. 1 delivery; nothing was accepted.
    2> Error: the receiver failed 1 of 1 case
    2> Each is listed above with the rule of the API document that it breaks.
    exit 10
  `)
  expect(() => new SaxesParser().write(read('report.xml')).close()).not.toThrow()
  const goodReceiver = await startGoodReceiver()
  expect(await webhook(`check-receiver ${goodReceiver.url} --only good-event --junit nowhere/x.xml`))
    .toMatchInlineSnapshot(`
      $ refcheck webhook check-receiver http://127.0.0.1:PORT_2/hook --only good-event --junit nowhere/x.xml
      2> Sending made-up events to http://127.0.0.1:PORT_2/hook, signed with the webhook secret; the requests they name do not exist.
      passed  good-event  a good event

      passed  http://127.0.0.1:PORT_2/hook: 1 passed, 0 with advice, 0 failed, 0 not judged. 1 delivery; the slowest acceptance took # ms.
      2> Error: cannot write "HOME/nowhere/x.xml": there is no such file or folder
      2> Check the path.
      exit 1
    `)
})
