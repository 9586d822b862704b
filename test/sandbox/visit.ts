import { expect, onTestFinished } from 'vitest'

import type { RequestResource } from '../../src/contract/request.ts'
import { documentedFetch } from '../harness/documented-fetch.ts'
import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'

export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
  /** Read as JSON; throws where it is none. */
  envelope: () => { data: unknown; status_message: string; message: string }
}

type HeaderRecord = Record<string, string>

/** One caller's view of a sandbox that stands still until its clock is advanced. */
export interface Visit {
  sandbox: Sandbox
  clock: ManualClock
  /** Both authentication headers, of the owner unless another e-mail is given. */
  signedIn: (email?: string) => HeaderRecord
  get: (path: string, headers?: HeaderRecord) => Promise<Answer>
  post: (body: unknown, headers?: HeaderRecord) => Promise<Answer>
  /** Orders, and fails unless that is accepted; the request's id. */
  order: (body?: object) => Promise<string>
  read: (id: string) => Promise<RequestResource>
}

export const start = Date.parse('2026-03-02T09:00:00.000Z')
export const minute = 60_000
export const hour = 60 * minute

export const jane = {
  first_name: 'Jane',
  last_name: 'Example',
  email: 'jane@example.com',
  phone: '+61400000001',
}

/** A body for the package that asks for nothing more. */
export const simpleOrder = { package_id: 102, recipient: jane }

/** A body for the package that asks for values of all six types. */
export const fullOrder = {
  package_id: 101,
  recipient: jane,
  additional_information: [
    { code: 'reference', fields: { position_title: 'Gardener' } },
    {
      code: 'ncc_acic',
      fields: {
        date_of_birth: '1990-04-30',
        is_volunteer: false,
        previous_names: [],
        residential_address: { street: '1 Example Street' },
      },
    },
    { code: 'icrc', fields: { years_of_history: 5, annual_income: 61_000.5 } },
  ],
}

const origin = 'http://127.0.0.1:4010'

export function visit(options: Partial<SandboxOptions> = {}): Visit {
  const clock = new ManualClock(start)
  const sandbox = createSandbox({ clock, seed: 'refcheck', ...options })
  onTestFinished(() => sandbox.close())
  const documented = documentedFetch(sandbox)
  const signedIn = (email = sandbox.credentials.userEmail): HeaderRecord => ({
    'X-Service-API-Key': sandbox.credentials.apiKey,
    'X-Service-User-Email': email,
  })
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const url = path.startsWith('http') ? path : origin + path
    const response = await documented(new Request(url, init))
    const bytes = Buffer.from(await response.arrayBuffer())
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      envelope: () => JSON.parse(bytes.toString()) as ReturnType<Answer['envelope']>,
    }
  }
  const get: Visit['get'] = (path, headers = signedIn()) => send(path, { headers })
  const post: Visit['post'] = (body, headers = { ...signedIn(), 'Content-Type': 'application/json' }) =>
    send('/v1/requests', {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    sandbox,
    clock,
    signedIn,
    get,
    post,
    async order(body = simpleOrder) {
      const answer = await post(body)
      expect(answer.status).toBe(201)
      return (answer.envelope().data as { request_id: string }).request_id
    },
    async read(id) {
      const answer = await get(`/v1/requests/${id}`)
      expect(answer.status).toBe(200)
      return answer.envelope().data as RequestResource
    },
  }
}

/** A refusal as the envelope tells it. */
export const refusal = (message: string) => ({ data: null, status_message: 'client_error', message })
