import { z } from 'zod'

import { requestStatuses } from '../contract/statuses.ts'
import { maskFileFailure } from '../domain/agent/mask.ts'
import { submissionStates } from '../domain/submission/states.ts'
import { UsageError } from '../errors/kinds.ts'
import { answers } from '../output/schemas/answers.ts'
import { resolveAllowedFile, type CommandResult, type RunReadOnly } from '../usecases/agent/calls.ts'
import {
  type PlanEnd,
  planFile,
  planOrder,
  planPeople,
  type StorePlanServices,
} from '../usecases/agent/plan.ts'
import type { Services } from '../usecases/services.ts'

/** The services and permissions of an agent's calls. */
export interface AgentServices {
  /** The version of refcheck. */
  version: string
  run: RunReadOnly
  /** The folder that `validate_file` and `plan_file` read; undefined if none is allowed. */
  files: string | undefined
  /** The folder for downloaded reports; undefined if none is allowed. */
  reports: string | undefined
  showsPersonalData: boolean
  /** Removes the known keys, secrets and tokens from a text. */
  redact: (text: string) => string
  /** Opens the plans that wait for approval. */
  plans: () => Promise<Services['plans']>
  /** Opens the services that store a plan. */
  openPlanServices: () => Promise<StorePlanServices>
  /** Returns the time in milliseconds. */
  now: () => number
  /** Returns a random mark for the begin and the end of the data in an answer, so that no data can imitate the end. */
  createTextBoundary: () => string
}

export interface Tool {
  name: string
  title: string
  description: string
  input: z.ZodObject
  answer: z.ZodType
  /** Whether the tool stores anything on this machine. */
  storesData: boolean
  /** Performs a call of the tool. */
  perform: (
    services: AgentServices,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<CommandResult>
  /**
   * Returns command lines whose output has the names of people that texts in this tool's result may contain. They are
   * run, so that these names can be masked.
   */
  nameSources?: ((input: Record<string, unknown>) => string[][]) | undefined
  /** Whether the result contains names of checks, which are then compared with those of the packages. */
  hasCheckNames?: boolean
  /** Whether the result is about packages and contains no personal data. */
  hasNoPersons?: boolean
}

/** A tool that only reads: its command line, which is run with --json. */
interface ReadTool extends Omit<Tool, 'storesData' | 'perform' | 'answer'> {
  /** The command whose output schema the result has; without it, the result may be any object. */
  command?: string
  /** Returns the words of the command line. Values from the agent follow a `=`, so that none is read as a flag. */
  line: (input: Record<string, unknown>) => string[]
  /** Returns the input of the command on stdin. */
  stdin?: (input: Record<string, unknown>) => string
}

const requestId = z.guid().describe('id of a request, a UUID')
const packageId = z.int().min(1).describe('id of a package')
/** Whole: the hint about several batches whose ids begin alike contains the names of their files. */
const batchId = z.guid().describe('id of a batch, a UUID')
const timeInput = z
  .string()
  .regex(/^[0-9TZ:.+-]{8,35}$|^\d{1,5}[smhd]$/)
  .describe('a date such as 2026-11-01, or how long ago: 7d')
const anyObject = z.looseObject({})

function readTool({ command = '', line, stdin, ...tool }: ReadTool): Tool {
  return {
    ...tool,
    answer: answers[command] ?? anyObject,
    storesData: false,
    perform: async ({ run }, input, signal) => run(line(input), { stdin: stdin?.(input), signal }),
  }
}

/** The body of a request, as POST /v1/requests requires it. */
const bodyInput = z
  .record(z.string(), z.unknown())
  .describe('{package_id, recipient: {first_name, last_name, email, phone}, additional_information?}')

/** The command line whose output has the names of all people who were ordered. */
const orderedRequests = () => [['request', 'list']]
/** The command lines whose output has the names of a batch, and of all people who were ordered. */
const batchAndRequests = ({ batch_id: id }: Record<string, unknown>) => [
  ['batch', 'export', String(id)],
  ...orderedRequests(),
]
/** Returns a flag with the agent's value after `=`; empty without a value. */
const flagArgument = (flag: string, value: unknown): string[] =>
  typeof value === 'string' || typeof value === 'number' ? [`--${flag}=${value}`] : []

const readTools = [
  readTool({
    name: 'list_packages',
    title: 'List packages',
    description: 'What can be ordered. Only ACTIVE packages can.',
    input: z.object({ status: z.enum(['active', 'inactive', 'disabled']).optional() }),
    line: ({ status }) => ['packages', 'list', ...flagArgument('status', status)],
    command: 'packages list',
    hasNoPersons: true,
  }),
  readTool({
    name: 'get_package_schema',
    title: 'Show what an order needs',
    description: 'The JSON Schema (2020-12) of the body of an order of a package.',
    input: z.object({ package_id: packageId }),
    line: ({ package_id: id }) => ['schema', 'show', String(id), '--json-schema'],
    hasNoPersons: true,
  }),
  readTool({
    name: 'validate_order',
    title: 'Check an order',
    description:
      'Checks the body of an order against its package, and whether the person was ordered before. Nothing is sent or kept.',
    input: z.object({ body: bodyInput }),
    line: () => ['request', 'create', '--file', '-', '--dry-run'],
    stdin: ({ body }) => JSON.stringify(body),
    command: 'request create',
    nameSources: orderedRequests,
  }),
  readTool({
    name: 'get_requests',
    title: 'Read requests',
    description:
      'Status, checks and referees of up to 20 requests. Each uses one call of the quota; the first call of this tool lists the packages as well.',
    input: z.object({ request_ids: z.array(requestId).min(1).max(20) }),
    line: ({ request_ids: ids }) => ['request', 'get', ...(ids as string[])],
    command: 'request get',
    hasCheckNames: true,
  }),
  readTool({
    name: 'list_requests',
    title: 'List requests',
    description: 'The requests ordered with this store, with their status as it was last read.',
    input: z.object({
      status: z
        .enum([...requestStatuses, 'unknown', 'sending'])
        .optional()
        .describe('unknown: orders whose outcome is unknown'),
      since: timeInput.optional(),
      email: z.string().max(254).optional(),
      batch_id: batchId.optional(),
    }),
    line: ({ status, since, email, batch_id: batch }) => [
      'request',
      'list',
      ...flagArgument('status', typeof status === 'string' ? status.toLowerCase() : undefined),
      ...flagArgument('since', since),
      ...flagArgument('email', email),
      ...flagArgument('batch', batch),
    ],
    command: 'request list',
  }),
  readTool({
    name: 'list_batches',
    title: 'List batches',
    description: 'The files that were ordered, newest first, and how far each is.',
    input: z.object({}),
    line: () => ['batch', 'list'],
    command: 'batch list',
    nameSources: orderedRequests,
  }),
  readTool({
    name: 'get_batch',
    title: 'Show a batch',
    description: 'How many rows of a batch are in which state, and why rows were not sent.',
    input: z.object({ batch_id: batchId }),
    line: ({ batch_id: id }) => ['batch', 'status', String(id)],
    command: 'batch status',
    nameSources: batchAndRequests,
  }),
  readTool({
    name: 'list_batch_rows',
    title: 'List the rows of a batch',
    description: 'Each row of a batch with its state and, where it was not accepted, why.',
    input: z.object({ batch_id: batchId, state: z.enum(submissionStates).optional() }),
    line: ({ batch_id: id, state }) => ['batch', 'rows', String(id), ...flagArgument('state', state)],
    command: 'batch rows',
    nameSources: batchAndRequests,
  }),
  readTool({
    name: 'get_quota',
    title: 'Show the quota',
    description: 'How many calls of the service are left. It makes no call itself.',
    input: z.object({}),
    line: () => ['quota'],
    command: 'quota',
  }),
  readTool({
    name: 'list_events',
    title: 'List webhook events',
    description: 'The webhook events that this machine received, oldest first.',
    input: z.object({
      status: z.enum(requestStatuses).optional(),
      request_id: requestId.optional(),
      since: timeInput.optional(),
    }),
    line: ({ status, request_id: id, since }) => [
      'webhook',
      'events',
      'list',
      ...flagArgument('status', status),
      ...flagArgument('request-id', id),
      ...flagArgument('since', since),
    ],
    command: 'webhook events list',
    nameSources: orderedRequests,
  }),
]

/** Options for reading a file, like the flags of `batch run`. */
const fileInput = {
  file: z.string().min(1).max(1000).describe('path of the file in the folder of --files'),
  package_id: z.int().min(1).optional().describe('default: the column package_id of the file'),
  sheet: z.string().max(100).optional(),
  header_row: z.int().min(1).optional().describe('line of the header, as a spreadsheet program counts'),
  encoding: z.string().max(40).optional().describe('of bytes that are not UTF-8, such as windows-1250'),
  hidden: z.enum(['include', 'skip']).optional().describe('hidden, filtered and struck-through rows'),
  default_country: z.string().length(2).optional().describe('of phones without +, such as AU'),
  map: z
    .record(z.string().max(200), z.string().max(200))
    .optional()
    .describe('columns of the file and the fields they are, such as {"Given name": "first_name"}'),
  ignore: z.array(z.string().max(200)).max(100).optional().describe('columns that are not ordered with'),
}
type FileInput = z.infer<z.ZodObject<typeof fileInput>>

const plannedAnswer = z.object({
  ordered: z.literal(false),
  code: z.string(),
  approve_with: z.string(),
  expires_at: z.string(),
  base_url: z.string(),
  user_email: z.string(),
  package_id: z.int().nullable(),
  orders: z.int(),
  review: z.unknown(),
})

const nothingOrdered =
  'Nothing is ordered: the answer has a code, and a person types the line of approve_with in a terminal of their own, looks at the plan and says yes or no. Tell them that line. No call can approve.'

/** Other properties are refused, so that the user who approves sees all that is ordered. */
const person = z
  .strictObject({
    recipient: z.strictObject({
      first_name: z.string(),
      last_name: z.string(),
      email: z.string(),
      phone: z.string(),
    }),
    additional_information: z
      .array(z.strictObject({ code: z.string(), fields: z.record(z.string(), z.unknown()) }))
      .optional(),
  })
  .describe('the body of an order without its package')

export const tools: readonly Tool[] = [
  ...readTools,
  {
    name: 'validate_file',
    title: 'Check a file of people',
    description:
      'Checks every row of a file (CSV, XLSX, ODS, JSON) against its package. Nothing is sent or kept.',
    input: z.object(fileInput),
    answer: answers['batch validate'] ?? anyObject,
    storesData: false,
    nameSources: orderedRequests,
    async perform(services, input, signal) {
      const { file, ...readingOptions } = input as FileInput
      const path = await resolveAllowedFile(services.files, file)
      const result = await services.run(['batch', 'validate', path, ...readingArguments(readingOptions)], {
        signal,
      })
      return maskFileResult(services, readingOptions, result)
    },
  },
  {
    name: 'plan_order',
    title: 'Plan an order',
    description: `Checks the order of one person and keeps it as a plan. ${nothingOrdered}`,
    input: z.object({ body: bodyInput }),
    answer: plannedAnswer,
    storesData: true,
    nameSources: orderedRequests,
    perform: async (services, { body }, signal) =>
      toCommandResult(await planOrder({ ...services, signal }, body as Record<string, unknown>)),
  },
  {
    name: 'plan_people',
    title: 'Plan orders of several people',
    description: `Checks orders of one package for up to 500 people and keeps them as one plan. ${nothingOrdered}`,
    input: z.object({ package_id: z.int().min(1), people: z.array(person).min(1).max(500) }),
    answer: plannedAnswer,
    storesData: true,
    nameSources: orderedRequests,
    perform: async (services, { package_id: id, people }, signal) =>
      toCommandResult(
        await planPeople({ ...services, signal }, Number(id), people as Record<string, unknown>[]),
      ),
  },
  {
    name: 'plan_file',
    title: 'Plan the orders of a file',
    description: `Checks every row of a file and keeps the orders as one plan, for the file as it is now. ${nothingOrdered}`,
    input: z.object(fileInput),
    answer: plannedAnswer,
    storesData: true,
    nameSources: orderedRequests,
    async perform(services, input, signal) {
      const { file, ...readingOptions } = input as FileInput
      const path = await resolveAllowedFile(services.files, file)
      return maskFileResult(
        services,
        readingOptions,
        toCommandResult(await planFile({ ...services, signal }, path, readingArguments(readingOptions))),
      )
    },
  },
  {
    name: 'get_plan',
    title: 'Show what became of a plan',
    description: 'Whether a plan waits or a person approved it, and the request or batch that came of it.',
    input: z.object({ code: z.string().max(20) }),
    answer: z.object({
      code: z.string(),
      state: z.enum(['waiting', 'expired', 'approved', 'not_found']),
      request_id: z.string().nullable(),
      batch_id: z.string().nullable(),
    }),
    storesData: false,
    async perform({ plans, now }, { code }) {
      const { planState } = await import('../usecases/agent/plan.ts')
      return { code: 0, document: await planState(await plans(), String(code), now()) }
    },
  },
  {
    name: 'file_reports',
    title: 'File reports',
    description:
      'Downloads the finished reports of requests or of a batch as PDF files into the folder of --reports. Only paths are answered, never what is in a report.',
    input: z.object({
      request_ids: z.array(z.guid()).max(20).optional(),
      batch_id: batchId.optional(),
    }),
    answer: answers['report download'] ?? z.array(z.looseObject({})),
    storesData: true,
    nameSources: orderedRequests,
    async perform({ run, reports, showsPersonalData }, { request_ids: ids = [], batch_id: batch }, signal) {
      if (reports === undefined) {
        throw new UsageError('no folder for reports was allowed', {
          hint: 'A person allows one by starting the server with --reports DIR.',
        })
      }
      const selection = [...(ids as string[]).map((id) => `--request=${id}`), ...flagArgument('batch', batch)]
      // File names contain names of people only if the agent may see them.
      const names = showsPersonalData ? [] : ['--name-template={request_id}/{check_id}_{id}.pdf']
      return run(['report', 'download', ...selection, `--output=${reports}`, ...names], { signal })
    },
  },
]

function readingArguments({
  package_id,
  header_row,
  default_country,
  map,
  ignore,
  ...otherOptions
}: Omit<FileInput, 'file'>) {
  return [
    ...flagArgument('package', package_id),
    ...flagArgument('sheet', otherOptions.sheet),
    ...flagArgument('header-row', header_row),
    ...flagArgument('encoding', otherOptions.encoding),
    ...flagArgument('hidden', otherOptions.hidden),
    ...flagArgument('default-country', default_country),
    ...Object.entries(map ?? {}).map(([column, field]) => `--map=${column}=${field}`),
    ...(ignore ?? []).map((column) => `--ignore=${column}`),
  ]
}

function maskFileResult(
  { showsPersonalData }: AgentServices,
  { map, ignore }: Omit<FileInput, 'file'>,
  result: CommandResult,
): CommandResult {
  if (showsPersonalData) return result
  const hasColumnOptions = map !== undefined || ignore !== undefined
  return { ...result, document: maskFileFailure(result.document, hasColumnOptions) }
}

const toCommandResult = (end: PlanEnd): CommandResult =>
  'planned' in end ? { code: 0, document: end.planned } : { ...end.refused, isRefused: true }
