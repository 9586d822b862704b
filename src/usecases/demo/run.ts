import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { signatureHeader } from '../../contract/headers.ts'
import { type WebhookEvent, webhookEvent } from '../../contract/event.ts'
import { IncompleteError, InternalError, InterruptedError } from '../../errors/kinds.ts'
import { makeFolders } from '../../disk/make-folders.ts'
import type { Sink, Streams } from '../../output/streams.ts'
import { styled, type Terminal } from '../../output/terminal.ts'
import { listen } from '../../server/listen.ts'
import type { Context } from '../../cli/context.ts'
import { exitCodes } from '../../cli/exit-codes.ts'
import { type SandboxServer, startSandbox } from '../sandbox/start.ts'
import { shellWord } from '../../domain/wording/shell-word.ts'

export interface DemoOptions {
  context: Context
  /** Where the transcript goes. */
  sink: Sink
  terminal: Terminal
  /** Absolute folder for the PDFs; a temporary one where undefined. */
  output: string | undefined
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
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const home = await mkdtemp(join(tmpdir(), 'refcheck-demo-'))
  const deliveries: Delivery[] = []
  const receiver = await listen((request) => receive(request, deliveries))
  const server = await startSandbox(options.context, { port: 0, speed, webhookUrl: `${receiver.url}/hook` })
  try {
    return await new Demo(options, home, server, deliveries).run()
  } finally {
    await server.close()
    await receiver.close()
    for (const part of ['config', 'data', 'event.json'])
      await rm(join(home, part), { recursive: true, force: true })
    if (options.output !== undefined) await rm(home, { recursive: true, force: true })
  }
}

async function receive(request: Request, deliveries: Delivery[]): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer())
  const event = webhookEvent.parse(JSON.parse(body.toString('utf8')))
  deliveries.push({ body, signature: request.headers.get(signatureHeader) ?? '', event })
  return new Response(null, { status: 204 })
}

class Demo {
  readonly #options: DemoOptions
  readonly #home: string
  readonly #server: SandboxServer
  readonly #deliveries: Delivery[]

  constructor(options: DemoOptions, home: string, server: SandboxServer, deliveries: Delivery[]) {
    this.#options = options
    this.#home = home
    this.#server = server
    this.#deliveries = deliveries
  }

  async run(): Promise<DemoResult> {
    const reports = this.#options.output ?? join(this.#home, 'reports')
    makeFolders(reports, 0o700)
    this.#say(
      `A sandbox of the whole service runs at ${this.#server.url} for this demo; no real person is checked.`,
    )

    this.#say('Is the service up, and what can be ordered?')
    await this.#type(['ping'])
    await this.#type(['packages', 'list', '--status', 'active', '--columns', 'id,name,background_checks'])
    this.#say('What does a request of a package need?')
    await this.#type(['schema', 'show', packageId])

    this.#say('Order it for two people. Each order is journaled before it is sent, and sent once.')
    const ids: string[] = []
    for (const person of people) ids.push(createdId(await this.#type(create(person))))
    this.#say(
      'A number without its country code is refused before anything is sent, and so is the same order again.',
    )
    await this.#type(create(mistaken), 2)
    await this.#type(create(people[0]), 2)

    this.#say('Wait while they progress (hours in reality, seconds here).')
    await this.#type(['request', 'wait', ...ids, '--for', 'report'])
    await this.#verifyEvent(ids[0] ?? '')

    this.#say('File the reports.')
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
    await writeFile(join(this.#home, 'event.json'), captured.body, { mode: 0o600 })
    this.#say('Meanwhile the service called our webhook. Is what it delivered really from it?')
    await this.#type(['webhook', 'verify', 'event.json', '--signature', captured.signature])
  }

  /** Shows a command line, runs it, and returns what it printed. */
  async #type(argv: readonly string[], expected = 0): Promise<string> {
    const { context, sink, terminal } = this.#options
    const { apiKey, userEmail, webhookSecret } = this.#server.sandbox.credentials
    sink.write(`\n${styled(terminal, 'bold', `$ refcheck ${argv.map(shellWord).join(' ')}`)}\n`)
    const printed: string[] = []
    const code = await context.program?.(argv, {
      ...context,
      cwd: this.#home,
      streams: teed(context.streams, sink, printed),
      env: {
        ...context.env,
        REFCHECK_PROFILE: undefined,
        REFCHECK_STORE: undefined,
        REFCHECK_CONFIG_DIR: join(this.#home, 'config'),
        REFCHECK_DATA_DIR: join(this.#home, 'data'),
        REFCHECK_BASE_URL: this.#server.url,
        REFCHECK_API_KEY: apiKey,
        REFCHECK_USER_EMAIL: userEmail,
        REFCHECK_WEBHOOK_SECRET: webhookSecret,
      },
    })
    if (code === exitCodes.interrupted) throw new InterruptedError('the demo was interrupted')
    if (code !== expected)
      throw new InternalError(`the demo's "refcheck ${argv.join(' ')}" ended with ${code}`)
    return printed.join('')
  }

  #say(text: string): void {
    const { sink, terminal } = this.#options
    sink.write(
      `\n${text
        .split('\n')
        .map((line) => styled(terminal, 'cyan', line === '' ? '' : `# ${line}`))
        .join('\n')}\n`,
    )
  }
}

function create([first, last, email, phone]: readonly [string, string, string, string]): string[] {
  const person = ['--first-name', first, '--last-name', last, '--email', email, '--phone', phone]
  return ['request', 'create', '--package', packageId, ...person, '--yes']
}

/** Both streams of the inner command into one transcript, in the order they were written. */
function teed(streams: Streams, sink: Sink, printed: string[]): Streams {
  const into: Sink = {
    write(data) {
      printed.push(Buffer.from(data).toString('utf8'))
      sink.write(data)
    },
    drained: () => sink.drained(),
    isTTY: sink.isTTY,
    columns: sink.columns,
  }
  return { stdin: streams.stdin, stdout: into, stderr: into }
}

function createdId(printed: string): string {
  const [id] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(printed) ?? []
  if (id === undefined) throw new InternalError('the demo’s order printed no request id')
  return id
}

function nextSteps(reports: string): string {
  return [
    `Done. The PDFs are in ${reports}; the sandbox is gone.`,
    '',
    'To practise by hand:     refcheck sandbox start --speed 600 --login',
    'With a real key:         refcheck auth login',
    'Then, asked step by step: refcheck request create',
  ].join('\n')
}
