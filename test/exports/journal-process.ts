/* Makes one order with a journal, both given as JSON on stdin, and prints `ordered` or the code of the error. */
import { json } from 'node:stream/consumers'

import { type ClientOptions, createClient, type NewRequest, RefcheckError } from '../../src/exports/client.ts'
import { type JournalOptions, openJournal } from '../../src/exports/journal.ts'

const {
  options,
  client: clientOptions,
  order,
} = (await json(process.stdin)) as {
  options: JournalOptions
  client: ClientOptions
  order: NewRequest
}
const client = createClient(clientOptions)
const journal = await openJournal(options)
try {
  await journal.order(client, order)
  process.stdout.write('ordered')
} catch (error) {
  if (!(error instanceof RefcheckError)) throw error
  process.stdout.write(error.code)
} finally {
  await journal.close()
  await client.close()
}
