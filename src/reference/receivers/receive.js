import { BadSignatureError, InvalidInputError, verify } from 'refcheck/webhook'

const secret = process.env.REFCHECK_WEBHOOK_SECRET
if (!secret) throw new Error('set REFCHECK_WEBHOOK_SECRET')

/** Replace this by a table of your database with the key (request_id, status): events may be delivered again. */
const events = new Map()

/** Returns the HTTP status of the response, after the event was stored. Process the event later, not here. */
export function receive(body, signature) {
  let event
  try {
    event = verify(body, signature, secret)
  } catch (error) {
    if (error instanceof BadSignatureError) return 401
    if (error instanceof InvalidInputError) return 400
    throw error
  }
  events.set(`${event.request_id} ${event.status}`, event)
  return 204
}
