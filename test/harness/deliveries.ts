import { sign, signingKey } from '../../src/contract/signature.ts'

export interface Delivery {
  body: string | Uint8Array
  /** Value of the signature header: by default the right one, with null no header. */
  signature?: string | null | undefined
}

export const requestIds = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`)

export function eventBody(requestId = requestIds[0], status = 'PARTIAL'): string {
  return JSON.stringify({ event: 'request.updated', request_id: requestId, status })
}

/** Posts a delivery, signed by default. Returns the status of the answer. */
export async function postDelivery(
  url: string,
  secret: string,
  { body, signature }: Delivery,
): Promise<number> {
  const bytes = Buffer.from(body)
  const signed = signature === undefined ? sign(bytes, signingKey(secret)) : signature
  const answer = await fetch(url, {
    method: 'POST',
    body: bytes,
    headers: {
      'content-type': 'application/json',
      ...(signed === null ? {} : { 'x-service-signature': signed }),
    },
  })
  await answer.arrayBuffer()
  return answer.status
}
