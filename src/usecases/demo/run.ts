import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { signatureHeader } from '../../contract/headers.ts'
import { type WebhookEvent, webhookEvent } from '../../contract/request.ts'
import { IncompleteError, InternalError } from '../../errors/kinds.ts'
import { makeFolders } from '../../disk/folders.ts'
import { type SandboxServices, type SandboxServer, startSandbox } from '../sandbox/start.ts'

/** The progress of a demo, for the command that shows it. */
export type DemoEvent =
  /** `#` before each line of it. */
  | { name: 'said'; text: string }
  /** A command line, as a person would type it. */
  | { name: 'typed'; argv: readonly string[] }

export interface DemoServices {
  sandbox: SandboxServices
  /** A folder that is new and private. */
  home: string
  /** Absolute folder for the PDFs; in `home` where undefined. */
  output: string | undefined
  /**
   * Runs a command line of this program, showing what it prints; throws an InterruptedError where it was
   * interrupted.
   */
  run: (argv: readonly string[], env: Readonly<Record<string, string | undefined>>) => Promise<DemoRun>
  onEvent: (event: DemoEvent) => void
}

export interface DemoRun {
  code: number
  /** Both streams, in the order they were written. */
  printed: string
}

export interface DemoResult {
  request_ids: string[]
  reports_folder: string
}

interface Delivery {
  body: Buffer
  signature: string
  event: WebhookEvent
}

/** Progress a hundred and more times real time: a request is COMPLETED in about six seconds. */
const speed = 600
const packageId = '102'

const people = [
  ['Priya', 'Shah', 'priya.shah@example.com', '+61412345678'],
  ['Tomás', 'Silva', 'tomas.silva@example.com', '+351912345678'],
] as const
const mistaken = ['Mei', 'Tanaka', 'mei.tanaka@example.com', '090 1234 5678'] as const

/**
 * The main job, from end to end, on a sandbox, profile and store of its own: every line is a command
 * line that runs as if a person had typed it. Nothing is left running; only the PDFs stay.
 */
export async function runDemo(services: DemoServices): Promise<DemoResult> {
  const { home } = services
  const deliveries: Delivery[] = []
  const receiver = await services.sandbox.listen((request) => receive(request, deliveries))
  const server = await startSandbox(services.sandbox, { port: 0, speed, webhookUrl: `${receiver.url}/hook` })
  try {
    return await new Demo(services, server, deliveries).run()
  } finally {
    await server.close()
    await receiver.close()
    for (const part of ['config', 'data', 'event.json'])
      await rm(join(home, part), { recursive: true, force: true })
    if (services.output !== undefined) await rm(home, { recursive: true, force: true })
  }
}

async function receive(request: Request, deliveries: Delivery[]): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer())
  const event = webhookEvent.parse(JSON.parse(body.toString('utf8')))
  deliveries.push({ body, signature: request.headers.get(signatureHeader) ?? '', event })
  return new Response(null, { status: 204 })
}

class Demo {
  readonly #services: DemoServices
  readonly #server: SandboxServer
  readonly #deliveries: Delivery[]

  constructor(services: DemoServices, server: SandboxServer, deliveries: Delivery[]) {
    this.#services = services
    this.#server = server
    this.#deliveries = deliveries
  }

  async run(): Promise<DemoResult> {
    const reports = this.#services.output ?? join(this.#services.home, 'reports')
    makeFolders(reports, 0o700)
    this.#say(
      `A sandbox of the whole service runs at ${this.#server.url} for this demo. No real person is checked.`,
    )

    this.#say('Is the service up, and what can be ordered?')
    await this.#type(['ping'])
    await this.#type(['packages', 'list', '--status', 'active', '--columns', 'id,name,background_checks'])
    this.#say('What does an order of this package need?')
    await this.#type(['schema', 'show', packageId])

    this.#say('Order it for two people. Each order is recorded on disk before it is sent, and sent once.')
    const ids: string[] = []
    for (const person of people) ids.push(createdId(await this.#type(create(person))))
    this.#say(
      'Two mistakes, caught before anything is sent: a phone number without its country code, and the same order again.',
    )
    await this.#type(create(mistaken), 2)
    await this.#type(create(people[0]), 2)

    this.#say('Wait for the reports (hours in reality, seconds here).')
    await this.#type(['request', 'wait', ...ids, '--for', 'report'])
    await this.#verifyEvent(ids[0] ?? '')

    this.#say('Download the reports.')
    await this.#type(['report', 'download', ...ids.flatMap((id) => ['--request', id]), '--output', reports])
    this.#say(nextSteps(reports))
    return { request_ids: ids, reports_folder: reports }
  }

  async #verifyEvent(requestId: string): Promise<void> {
    const captured = this.#deliveries.find(
      ({ event }) => event.request_id === requestId && event.status === 'COMPLETED',
    )
    if (captured === undefined)
      throw new IncompleteError('the sandbox delivered no event for a finished request')
    await writeFile(join(this.#services.home, 'event.json'), captured.body, { mode: 0o600 })
    this.#say('Meanwhile the service delivered an event to our webhook. Is its signature valid?')
    await this.#type(['webhook', 'verify', 'event.json', '--signature', captured.signature])
  }

  /** Shows a command line, runs it, and returns what it printed. */
  async #type(argv: readonly string[], expected = 0): Promise<string> {
    const { home, run, onEvent } = this.#services
    const { apiKey, userEmail, webhookSecret } = this.#server.sandbox.credentials
    onEvent({ name: 'typed', argv })
    const { code, printed } = await run(argv, {
      REFCHECK_PROFILE: undefined,
      REFCHECK_STORE: undefined,
      REFCHECK_CONFIG_DIR: join(home, 'config'),
      REFCHECK_DATA_DIR: join(home, 'data'),
      REFCHECK_BASE_URL: this.#server.url,
      REFCHECK_API_KEY: apiKey,
      REFCHECK_USER_EMAIL: userEmail,
      REFCHECK_WEBHOOK_SECRET: webhookSecret,
    })
    if (code !== expected)
      throw new InternalError(`the demo's "refcheck ${argv.join(' ')}" ended with ${code}`)
    return printed
  }

  #say(text: string): void {
    this.#services.onEvent({ name: 'said', text })
  }
}

function create([first, last, email, phone]: readonly [string, string, string, string]): string[] {
  const person = ['--first-name', first, '--last-name', last, '--email', email, '--phone', phone]
  return ['request', 'create', '--package', packageId, ...person, '--yes']
}

function createdId(printed: string): string {
  const [id] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(printed) ?? []
  if (id === undefined) throw new InternalError('the demo’s order printed no request id')
  return id
}

function nextSteps(reports: string): string {
  return [
    `Done. The PDFs are in ${reports}. The sandbox has been stopped.`,
    '',
    'Practise by hand:         refcheck sandbox start --speed 600 --login',
    'Log in with a real key:   refcheck auth login',
    'Order, step by step:      refcheck request create',
  ].join('\n')
}
