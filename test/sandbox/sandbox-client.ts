import { expect, onTestFinished } from 'vitest'

import type { RequestResource } from '../../src/contract/request.ts'
import { documentedFetch } from '../harness/documented-fetch.ts'
import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'

export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
  /** Parses the body as JSON; throws if it is not JSON. */
  envelope: () => { data: unknown; status_message: string; message: string }
}

type HeaderRecord = Record<string, string>

/** A sandbox with a manual clock, and functions that call it as one of its users. */
export interface SandboxClient {
  sandbox: Sandbox
  clock: ManualClock
  /** Returns both authentication headers, of the owner unless another e-mail is given. */
  authHeaders: (email?: string) => HeaderRecord
  get: (path: string, headers?: HeaderRecord) => Promise<Answer>
  post: (body: unknown, headers?: HeaderRecord) => Promise<Answer>
  /** Creates a request, expects a 201, and returns the id of the request. */
  order: (body?: object) => Promise<string>
  read: (id: string) => Promise<RequestResource>
}

export const startTime = Date.parse('2026-03-02T09:00:00.000Z')
export const minute = 60_000
export const hour = 60 * minute

export const jane = {
  first_name: 'Jane',
  last_name: 'Example',
  email: 'jane@example.com',
  phone: '+61400000001',
}

/** A body for the package that needs no additional information. */
export const simpleOrder = { package_id: 102, recipient: jane }

/** A body for the package whose additional information has fields of all six types. */
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

export function createSandboxClient(options: Partial<SandboxOptions> = {}): SandboxClient {
  const clock = new ManualClock(startTime)
  const sandbox = createSandbox({ clock, seed: 'refcheck', ...options })
  onTestFinished(() => sandbox.close())
  const fetchDocumented = documentedFetch(sandbox)
  const authHeaders = (email = sandbox.credentials.userEmail): HeaderRecord => ({
    'X-Service-API-Key': sandbox.credentials.apiKey,
    'X-Service-User-Email': email,
  })
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const url = path.startsWith('http') ? path : origin + path
    const response = await fetchDocumented(new Request(url, init))
    const bytes = Buffer.from(await response.arrayBuffer())
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      envelope: () => JSON.parse(bytes.toString()) as ReturnType<Answer['envelope']>,
    }
  }
  const get: SandboxClient['get'] = (path, headers = authHeaders()) => send(path, { headers })
  const post: SandboxClient['post'] = (
    body,
    headers = { ...authHeaders(), 'Content-Type': 'application/json' },
  ) =>
    send('/v1/requests', {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    sandbox,
    clock,
    authHeaders,
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

/** The envelope of an error with a 4xx status and the given message. */
export const refusal = (message: string) => ({ data: null, status_message: 'client_error', message })

/** Calls a control of the sandbox: a POST with the body, or a GET without one. Returns the status and the JSON. */
export async function callControl(
  client: SandboxClient,
  path: string,
  body?: object,
): Promise<{ status: number; data: unknown }> {
  const answer = await client.sandbox.fetch(
    new Request(`http://127.0.0.1:4010/_sandbox/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  )
  return { status: answer.status, data: await answer.json() }
}
