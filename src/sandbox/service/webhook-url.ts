import { UsageError } from '../../errors/kinds.ts'
import { isLoopbackHost } from '../../contract/loopback.ts'

/**
 * "An HTTPS endpoint URL" ("Webhook configuration"), or plain http to this machine, as a receiver under
 * test listens; `httpElsewhere`: or to any host, which is looked up when an event is sent. Throws UsageError for
 * anything else; what is refused is not shown whole, since a URL may hold a token.
 */
export function checkedWebhookUrl(text: string, httpElsewhere = false): string {
  if (!URL.canParse(text)) {
    throw new UsageError('the webhook is not a URL', {
      hint: 'Give a URL such as https://hooks.example.com/in, or http://127.0.0.1:4281/ on this machine.',
    })
  }
  const { protocol, host, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') {
    throw new UsageError(`the webhook at ${host} has a user name in its URL`, {
      hint: 'Remove the part before the @.',
    })
  }
  if (protocol === 'https:' || (protocol === 'http:' && (httpElsewhere || isLoopbackHost(hostname)))) {
    return text
  }
  throw new UsageError(`the webhook ${protocol}//${host} is not https`, {
    hint: 'http is allowed for this machine only (127.0.0.1, ::1, localhost), and for networks that sandbox start --allow-http-from names.',
  })
}
