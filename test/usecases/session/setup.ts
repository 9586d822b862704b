import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { connectApi } from '../../../src/api/api.ts'
import type { User } from '../../../src/contract/user.ts'
import type { ConnectAs } from '../../../src/usecases/session/login.ts'
import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { HttpClient } from '../../../src/http/client.ts'
import type { Keychain } from '../../../src/store/config/keychain.ts'
import { openSecrets, type Secrets } from '../../../src/store/config/secrets.ts'
import { openSettings, type Settings } from '../../../src/store/config/settings.ts'

export const key = 'K3y0123456789abcdefghijklmnopQRS'
export const otherKey = '0th3r123456789abcdefghijklmnopQR'

/** Settings and secrets in a separate folder on disk. */
export interface Home extends Disposable {
  settings: Settings
  secrets: Secrets
  /** Saves a profile and makes it the current one. */
  add(name: string, baseUrl: string, apiKey?: string, userEmail?: string): Promise<void>
  /** Returns the contents of both files, with null for a missing file. */
  readFiles(): (string | null)[]
}

export function openHome(keychain?: Keychain): Home {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-session-'))
  const paths = { config: join(folder, 'config'), data: join(folder, 'data') }
  const settings = openSettings({ paths, clock })
  const secrets = openSecrets({
    paths,
    clock,
    random,
    keychain: keychain === undefined ? 'never' : 'try',
    loadKeychain: () => Promise.resolve(keychain),
  })
  return {
    settings,
    secrets,
    async add(name, baseUrl, apiKey, userEmail = 'ana@example.com') {
      await settings.saveProfile(name, { baseUrl, userEmail }, { makeCurrent: true })
      if (apiKey !== undefined) await secrets.save(name, 'api-key', apiKey, { baseUrl })
    },
    readFiles: () =>
      [settings.path, secrets.path].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Settings and secrets that throw at any access. */
export const untouchable = {
  settings: createForbidden('the settings') as Settings,
  secrets: createForbidden('the secrets') as Secrets,
}

function createForbidden(what: string): object {
  return new Proxy(
    {},
    {
      get() {
        throw new Error(`${what} were touched`)
      },
    },
  )
}

function createUser(email: string): User {
  const [name = ''] = email.split('@')
  return {
    id: '7d3c1f52-0b1e-4f3a-8a55-1c9b0e6d2f40',
    first_name: name,
    last_name: 'Example',
    email,
    role: 'owner',
    teams: [],
    job_title: '',
  }
}

interface Organisation {
  key: string
  emails: string[]
}

/** A loopback server for GET /v1/users of the API document, with one organisation. */
export class UserService implements AsyncDisposable {
  /** The requests that were received: path, key and e-mail. */
  readonly calls: { path: string; key: string | undefined; email: string | undefined }[] = []
  readonly #server: Server
  readonly #http = new HttpClient({ clock, env: {}, userAgent: 'refcheck-test' })

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(organisation: Organisation): Promise<UserService> {
    const server = createServer()
    const service = new UserService(server)
    server.on('request', (request, response) => {
      const [status, body] = service.#answer(request, organisation)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    return service
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  readonly connect: ConnectAs = ({ baseUrl, apiKey, email }) =>
    connectApi({
      http: this.#http,
      clock,
      random,
      baseUrl,
      credentials: { apiKey, userEmail: email },
      budgetMs: 0,
    })

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.close()
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  #answer(request: IncomingMessage, organisation: Organisation): [number, unknown] {
    const apiKey = request.headers['x-service-api-key']?.toString()
    const email = request.headers['x-service-user-email']?.toString()
    this.calls.push({ path: request.url ?? '', key: apiKey, email })
    const createErrorBody = (message: string): unknown => ({
      data: null,
      status_message: 'client_error',
      message,
    })
    if (apiKey !== organisation.key) return [401, createErrorBody('invalid API key')]
    const isMember = organisation.emails.some((each) => each.toLowerCase() === email?.toLowerCase())
    if (!isMember && email !== 'ghost@example.com') {
      return [403, createErrorBody('user not a member of the organisation')]
    }
    return [200, { data: { users: organisation.emails.map(createUser) }, status_message: 'ok', message: '' }]
  }
}
