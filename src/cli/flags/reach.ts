import { Flags } from '../oclif.ts'

/** From where a sandbox is reached. */
export const reachFlags = {
  host: Flags.string({ summary: 'Address to listen on (default 127.0.0.1)', helpValue: 'HOST' }),
  'allow-http-from': Flags.string({
    summary: 'Network that may call it by http, such as 172.16.0.0/12; repeatable',
    helpValue: 'CIDR',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'public-url': Flags.string({
    summary: 'Base URL of a proxy in front of it, for report URLs',
    helpValue: 'URL',
  }),
}
