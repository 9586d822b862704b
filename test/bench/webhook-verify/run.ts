/*
 * Verifying a webhook's signature compared with stripe verifying its own, and with a bare createHmac with a KeyObject, all in
 * one run.
 * Run: node test/bench/webhook-verify/run.ts
 */
import { createHmac, createSecretKey } from 'node:crypto'

import { Stripe } from 'stripe'

import { sign, signingKey, verify } from '../../../src/contract/signature.ts'
import { verifyWith } from '../../../src/domain/webhook/verify.ts'
import { type Figure, median, printFigures } from '../measuring.ts'

const secret = 'whsec-of-a-benchmark-0123456789ab'
/** No verification can be faster: on large bodies the hash alone takes most of the time. */
const bare = 'bare createHmac, nothing compared'
const rounds = 7
const roundMs = 150

/** Each starts from the bytes as they come in. */
interface Candidate {
  name: string
  /** Verifies once; throws where it is invalid. */
  once: () => void
  /** The least ratio of our rate to this one's. */
  goal?: number
}

function body(bytes: number): string {
  const head =
    '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"ERROR","error_reason":"'
  return `${head}${'x'.repeat(bytes - head.length - 2)}"}`
}

function assertValid(valid: unknown): void {
  if (valid === false) throw new Error('a good signature was refused')
}

function contestants(text: string): Candidate[] {
  const bytes = Buffer.from(text)
  const key = signingKey(secret)
  const signature = sign(bytes, key)
  const bareKey = createSecretKey(Buffer.from(secret))
  const delivery = { body: bytes, signatures: [signature] }
  const { webhooks } = Stripe
  const { signature: stripe } = webhooks
  if (stripe === null) throw new Error('this stripe cannot verify')
  const stripeHeader = webhooks.generateTestHeaderString({ payload: text, secret })
  return [
    { name: 'ours', once: () => assertValid(verify(bytes, signature, key)) },
    { name: 'ours, the event parsed', once: () => assertValid(verifyWith(delivery, key).valid) },
    {
      name: bare,
      goal: 0.75,
      once: () => assertValid(createHmac('sha256', bareKey).update(bytes).digest('hex') === signature),
    },
    { name: 'stripe', goal: 2, once: () => assertValid(stripe.verifyHeader(bytes, stripeHeader, secret)) },
  ]
}

/** Verifications a second. */
function rate(once: Candidate['once']): number {
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < roundMs) {
    for (let turn = 0; turn < 50; turn += 1) once()
    count += 50
  }
  return (count * 1000) / (performance.now() - startedAt)
}

const figures: Figure[] = []
for (const size of [300, 10_000]) {
  const all = contestants(body(size))
  const rates = new Map(all.map(({ name }) => [name, [] as number[]]))
  // Round by round, so that other load on the machine affects all of them; the first is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, once } of all) {
      const measured = rate(once)
      if (round > 0) rates.get(name)?.push(measured)
    }
  }
  /** The median of how many times faster one was than another in the same round. */
  const times = (fast: string, slow: string): number =>
    median((rates.get(slow) ?? []).map((each, at) => (rates.get(fast)?.[at] ?? 0) / each))
  const bytes = size.toLocaleString('en')
  const perSecond = (name: string): string =>
    `${Math.round(median(rates.get(name) ?? [])).toLocaleString('en')}/s`
  for (const { name, goal } of all.slice(1)) {
    figures.push({
      what: `verifying ${bytes} bytes, rate to ${name}`,
      value: times('ours', name),
      // Of a large body the hash takes most of the time, and none is faster than the bare one.
      atLeast:
        goal && size > 300 && name !== bare
          ? Math.min(goal, floorToHundredths(times(bare, name) * 0.75))
          : goal,
      note: `${perSecond('ours')} to ${perSecond(name)}; the bare one is ${times(bare, name).toFixed(2)} times as fast`,
    })
  }
}
printFigures(figures)

function floorToHundredths(value: number): number {
  return Math.floor(value * 100) / 100
}
