import { BadSignatureError, InvalidInputError, verify } from 'refcheck/webhook'

const secret = process.env.REFCHECK_WEBHOOK_SECRET
if (!secret) throw new Error('set REFCHECK_WEBHOOK_SECRET')

/** Stands for your database: a table whose key is (request_id, status), because events come again. */
const events = new Map()

/** The HTTP status to answer with, once the event is stored. Process it afterwards, not here. */
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
