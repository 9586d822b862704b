import { isLoopbackHost } from '../../contract/loopback.ts'
import { field } from '../answer.ts'
import { type Case, unless } from '../case.ts'

export const versioningCases: readonly Case[] = [
  {
    id: 'versioning.prefix',
    section: 'Versioning',
    rule: 'The version is carried in the URL path prefix: /v1/ for this version, later versions use /v2/ and so on.',
    kind: 'read',
    async run({ probe }) {
      const bare = await probe.get('/ping', { as: {}, note: 'without the version prefix' })
      return bare.status === 200 && field(bare.json, 'status_message') === 'ok'
        ? [`${bare.label}: the service answers where no version is named`]
        : []
    },
  },
  {
    id: 'versioning.transport',
    section: 'What the service does',
    rule: 'Transport | HTTPS only; plain HTTP requests are rejected',
    kind: 'read',
    async run({ target, probe }) {
      const { protocol, hostname } = new URL(target.baseUrl)
      unless(protocol === 'https:', 'this machine itself is reached without TLS')
      unless(isLoopbackHost(hostname), 'plain HTTP is never sent over a network, so nobody tries it')
      const status = await probe.plainHttp()
      return status !== undefined && status < 300
        ? [`GET /v1/ping over plain HTTP: expected a refusal, got ${status}`]
        : []
    },
  },
]
