/*
 * Measures verifying the signature of a webhook, compared with the stripe library verifying a signature of Stripe and with
 * a bare createHmac with a KeyObject, all in the same run.
 * Run: node test/bench/webhook-verify/run.ts
 */
import { createHmac, createSecretKey } from 'node:crypto'

import { Stripe } from 'stripe'

import { sign, signingKey, verify } from '../../../src/contract/signature.ts'
import { verifyWith } from '../../../src/domain/webhook/verify.ts'
import { type Figure, median, printFigures } from '../measuring.ts'

const secret = 'whsec-of-a-benchmark-0123456789ab'
/** The name of the candidate that only hashes. No verification can be faster. */
const bareName = 'bare createHmac, nothing compared'
const rounds = 7
const roundMs = 150

/** A way to verify, which starts with the received bytes. */
interface Candidate {
  name: string
  /** Verifies once; throws if the signature is invalid. */
  verifyOnce: () => void
  /** The minimum ratio of our rate to the rate of this candidate. */
  goal?: number
}

function createBody(bytes: number): string {
  const head =
    '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"ERROR","error_reason":"'
  return `${head}${'x'.repeat(bytes - head.length - 2)}"}`
}

function assertValid(valid: unknown): void {
  if (valid === false) throw new Error('a good signature was refused')
}

function createCandidates(text: string): Candidate[] {
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
    { name: 'ours', verifyOnce: () => assertValid(verify(bytes, signature, key)) },
    { name: 'ours, the event parsed', verifyOnce: () => assertValid(verifyWith(delivery, key).valid) },
    {
      name: bareName,
      goal: 0.75,
      verifyOnce: () => assertValid(createHmac('sha256', bareKey).update(bytes).digest('hex') === signature),
    },
    {
      name: 'stripe',
      goal: 2,
      verifyOnce: () => assertValid(stripe.verifyHeader(bytes, stripeHeader, secret)),
    },
  ]
}

/** Returns the verifications a second. */
function measureRate(verifyOnce: Candidate['verifyOnce']): number {
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < roundMs) {
    for (let turn = 0; turn < 50; turn += 1) verifyOnce()
    count += 50
  }
  return (count * 1000) / (performance.now() - startedAt)
}

const figures: Figure[] = []
for (const size of [300, 10_000]) {
  const candidates = createCandidates(createBody(size))
  const rates = new Map(candidates.map(({ name }) => [name, [] as number[]]))
  // The candidates alternate, so that other load on the machine affects all of them. The first round is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, verifyOnce } of candidates) {
      const measured = measureRate(verifyOnce)
      if (round > 0) rates.get(name)?.push(measured)
    }
  }
  /** Returns the median, over all rounds, of the ratio of the rate of `first` to that of `second`. */
  const findRatio = (first: string, second: string): number =>
    median((rates.get(second) ?? []).map((rate, index) => (rates.get(first)?.[index] ?? 0) / rate))
  const bytes = size.toLocaleString('en')
  const formatRate = (name: string): string =>
    `${Math.round(median(rates.get(name) ?? [])).toLocaleString('en')}/s`
  for (const { name, goal } of candidates.slice(1)) {
    figures.push({
      label: `verifying ${bytes} bytes, rate to ${name}`,
      value: findRatio('ours', name),
      // For a large body the hash takes most of the time, so no candidate can be faster than the bare hash.
      atLeast:
        goal && size > 300 && name !== bareName
          ? Math.min(goal, floorToHundredths(findRatio(bareName, name) * 0.75))
          : goal,
      note: `${formatRate('ours')} to ${formatRate(name)}; the bare one is ${findRatio(bareName, name).toFixed(2)} times as fast`,
    })
  }
}
printFigures(figures)

function floorToHundredths(value: number): number {
  return Math.floor(value * 100) / 100
}
