import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { signatureHeader } from '../../contract/headers.ts'
import { type WebhookEvent, webhookEvent } from '../../contract/request.ts'
import { IncompleteError, InternalError } from '../../errors/kinds.ts'
import { makeFolders } from '../../disk/folders.ts'
import { type SandboxServices, type SandboxServer, startSandbox } from '../sandbox/start.ts'

/** Progress of the demo, for the command that shows it. */
export type DemoEvent =
  /** An explanation, shown with `#` before each line. */
  | { name: 'explanation'; text: string }
  /** A command line as a user would type it. */
  | { name: 'command'; argv: readonly string[] }

export interface DemoServices {
  sandbox: SandboxServices
  /** A new and private folder. */
  home: string
  /** Absolute path of the folder for the PDFs; undefined for a folder in `home`. */
  output: string | undefined
  /**
   * Runs a command line of this program and shows its output. Throws an InterruptedError if the command was
   * interrupted.
   */
  run: (argv: readonly string[], env: Readonly<Record<string, string | undefined>>) => Promise<DemoRun>
  onEvent: (event: DemoEvent) => void
}

export interface DemoRun {
  code: number
  /** The text of both streams, in the order written. */
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

/** Speed of the sandbox relative to real time: a request is COMPLETED in about six seconds. */
const speed = 600
const packageId = '102'

const people = [
  ['Priya', 'Shah', 'priya.shah@example.com', '+61412345678'],
  ['Tomás', 'Silva', 'tomas.silva@example.com', '+351912345678'],
] as const
const invalidPerson = ['Mei', 'Tanaka', 'mei.tanaka@example.com', '090 1234 5678'] as const

/**
 * Runs the main workflow with a separate sandbox, profile and store. Every step is a command line, run as if a user
 * had typed it. Nothing is left running, and only the PDFs are kept.
 */
export async function runDemo(services: DemoServices): Promise<DemoResult> {
  const { home, output, sandbox } = services
  const deliveries: Delivery[] = []
  const receiver = await sandbox.listen((request) => receive(request, deliveries))
  const server = await startSandbox(sandbox, { port: 0, speed, webhookUrl: `${receiver.url}/hook` })
  try {
    return await runCommands(services, server, deliveries)
  } finally {
    await server.close()
    await receiver.close()
    for (const part of ['config', 'data', 'event.json'])
      await rm(join(home, part), { recursive: true, force: true })
    if (output !== undefined) await rm(home, { recursive: true, force: true })
  }
}

async function receive(request: Request, deliveries: Delivery[]): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer())
  const event = webhookEvent.parse(JSON.parse(body.toString('utf8')))
  deliveries.push({ body, signature: request.headers.get(signatureHeader) ?? '', event })
  return new Response(null, { status: 204 })
}

async function runCommands(
  services: DemoServices,
  { url, sandbox: { credentials } }: SandboxServer,
  deliveries: readonly Delivery[],
): Promise<DemoResult> {
  const { home, onEvent } = services
  const reports = services.output ?? join(home, 'reports')
  makeFolders(reports, 0o700)
  const explain = (text: string): void => onEvent({ name: 'explanation', text })
  /** Shows a command line, runs it, and returns what it printed. */
  const run = async (argv: readonly string[], expected = 0): Promise<string> => {
    onEvent({ name: 'command', argv })
    const { code, printed } = await services.run(argv, {
      REFCHECK_PROFILE: undefined,
      REFCHECK_STORE: undefined,
      REFCHECK_CONFIG_DIR: join(home, 'config'),
      REFCHECK_DATA_DIR: join(home, 'data'),
      REFCHECK_BASE_URL: url,
      REFCHECK_API_KEY: credentials.apiKey,
      REFCHECK_USER_EMAIL: credentials.userEmail,
      REFCHECK_WEBHOOK_SECRET: credentials.webhookSecret,
    })
    if (code === expected) return printed
    throw new InternalError(`the demo's "refcheck ${argv.join(' ')}" ended with ${code}`)
  }
  explain(`A sandbox of the whole service runs at ${url} for this demo. No real person is checked.`)

  explain('Is the service up, and what can be ordered?')
  await run(['ping'])
  await run(['packages', 'list', '--status', 'active', '--columns', 'id,name,background_checks'])
  explain('What does an order of this package need?')
  await run(['schema', 'show', packageId])

  explain('Order it for two people. Each order is recorded on disk before it is sent, and sent once.')
  const ids: string[] = []
  for (const person of people) ids.push(parseRequestId(await run(createArguments(person))))
  explain(
    'Two mistakes, caught before anything is sent: a phone number without its country code, and the same order again.',
  )
  await run(createArguments(invalidPerson), 2)
  await run(createArguments(people[0]), 2)

  explain('Wait for the reports (hours in reality, seconds here).')
  await run(['request', 'wait', ...ids, '--for', 'report'])
  const completedDelivery = deliveries.find(
    ({ event }) => event.request_id === ids[0] && event.status === 'COMPLETED',
  )
  if (completedDelivery === undefined)
    throw new IncompleteError('the sandbox delivered no event for a finished request')
  await writeFile(join(home, 'event.json'), completedDelivery.body, { mode: 0o600 })
  explain('Meanwhile the service delivered an event to our webhook. Is its signature valid?')
  await run(['webhook', 'verify', 'event.json', '--signature', completedDelivery.signature])

  explain('Download the reports.')
  await run(['report', 'download', ...ids.flatMap((id) => ['--request', id]), '--output', reports])
  explain(nextSteps(reports))
  return { request_ids: ids, reports_folder: reports }
}

function createArguments([first, last, email, phone]: readonly [string, string, string, string]): string[] {
  const person = ['--first-name', first, '--last-name', last, '--email', email, '--phone', phone]
  return ['request', 'create', '--package', packageId, ...person, '--yes']
}

function parseRequestId(printed: string): string {
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
