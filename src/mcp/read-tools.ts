import { z } from 'zod'

import { requestStatuses } from '../contract/statuses.ts'
import { submissionStates } from '../domain/submission/states.ts'
import { answers } from '../output/schemas/answers.ts'

/** A call that only reads: what it takes, the command line it becomes, and what that prints with --json. */
export interface ReadTool {
  name: string
  title: string
  description: string
  input: z.ZodObject
  /** The words of the command line; what an agent gave stands behind `=`, so that it is no flag. */
  line: (input: Record<string, unknown>) => string[]
  /** What the command reads on stdin. */
  stdin?: (input: Record<string, unknown>) => string
  answer: z.ZodType
  /** Lines whose answers have names that this one's texts may hold, to mask them. */
  namesFrom?: (input: Record<string, unknown>) => string[][]
  /** It is about packages and nobody. */
  isAboutNobody?: boolean
}

const requestId = z.guid().describe('id of a request, a UUID')
const packageId = z.int().min(1).describe('id of a package')
const batchId = z
  .string()
  .regex(/^[0-9a-f][0-9a-f-]{3,35}$/i)
  .describe('id of a batch, or the first characters of it')
const moment = z
  .string()
  .regex(/^[0-9TZ:.+-]{8,35}$|^\d{1,5}[smhd]$/)
  .describe('a date such as 2026-11-01, or how long ago: 7d')
const anything = z.looseObject({})

/** A request's body, as POST /v1/requests takes it. */
export const bodyInput = z
  .record(z.string(), z.unknown())
  .describe('{package_id, recipient: {first_name, last_name, email, phone}, additional_information?}')

const asked = ['request', 'list']
/** A flag with what an agent gave behind `=`; none where it gave nothing. */
export const given = (flag: string, value: unknown): string[] =>
  typeof value === 'string' || typeof value === 'number' ? [`--${flag}=${value}`] : []

export const readTools: readonly ReadTool[] = [
  {
    name: 'list_packages',
    title: 'List packages',
    description: 'What can be ordered. Only ACTIVE packages can.',
    input: z.object({ status: z.enum(['active', 'inactive', 'disabled']).optional() }),
    line: ({ status }) => ['packages', 'list', ...given('status', status)],
    answer: answers['packages list'] ?? anything,
    isAboutNobody: true,
  },
  {
    name: 'get_package_schema',
    title: 'Show what an order needs',
    description: 'The JSON Schema (2020-12) of the body of an order of a package.',
    input: z.object({ package_id: packageId }),
    line: ({ package_id: id }) => ['schema', 'show', String(id), '--json-schema'],
    answer: anything,
    isAboutNobody: true,
  },
  {
    name: 'validate_order',
    title: 'Check an order',
    description:
      'Checks the body of an order against its package, and whether the person was ordered before. Nothing is sent or kept.',
    input: z.object({ body: bodyInput }),
    line: () => ['request', 'create', '--file', '-', '--dry-run'],
    stdin: ({ body }) => JSON.stringify(body),
    answer: answers['request create'] ?? anything,
    namesFrom: () => [asked],
  },
  {
    name: 'get_requests',
    title: 'Read requests',
    description: 'Status, checks and referees of up to 20 requests. Each uses one call of the quota.',
    input: z.object({ request_ids: z.array(requestId).min(1).max(20) }),
    line: ({ request_ids: ids }) => ['request', 'get', ...(ids as string[])],
    answer: answers['request get'] ?? anything,
  },
  {
    name: 'list_requests',
    title: 'List requests',
    description: 'The requests ordered with this store, with their status as it was last read.',
    input: z.object({
      status: z
        .enum([...requestStatuses, 'unknown', 'sending'])
        .optional()
        .describe('unknown: orders whose outcome is unknown'),
      since: moment.optional(),
      email: z.string().max(254).optional(),
      batch_id: batchId.optional(),
    }),
    line: ({ status, since, email, batch_id: batch }) => [
      'request',
      'list',
      ...given('status', typeof status === 'string' ? status.toLowerCase() : undefined),
      ...given('since', since),
      ...given('email', email),
      ...given('batch', batch),
    ],
    answer: answers['request list'] ?? anything,
  },
  {
    name: 'list_batches',
    title: 'List batches',
    description: 'The files that were ordered, newest first, and how far each is.',
    input: z.object({}),
    line: () => ['batch', 'list'],
    answer: answers['batch list'] ?? anything,
  },
  {
    name: 'get_batch',
    title: 'Show a batch',
    description: 'How many rows of a batch are in which state, and why rows were not sent.',
    input: z.object({ batch_id: batchId }),
    line: ({ batch_id: id }) => ['batch', 'status', String(id)],
    answer: answers['batch status'] ?? anything,
    namesFrom: ({ batch_id: id }) => [['batch', 'export', String(id)], asked],
  },
  {
    name: 'list_batch_rows',
    title: 'List the rows of a batch',
    description: 'Each row of a batch with its state and, where it was not accepted, why.',
    input: z.object({ batch_id: batchId, state: z.enum(submissionStates).optional() }),
    line: ({ batch_id: id, state }) => ['batch', 'rows', String(id), ...given('state', state)],
    answer: answers['batch rows'] ?? anything,
    namesFrom: ({ batch_id: id }) => [['batch', 'export', String(id)], asked],
  },
  {
    name: 'get_quota',
    title: 'Show the quota',
    description: 'How many calls of the service are left. It makes no call itself.',
    input: z.object({}),
    line: () => ['quota'],
    answer: answers['quota'] ?? anything,
  },
  {
    name: 'list_events',
    title: 'List webhook events',
    description: 'The webhook events that this machine received, oldest first.',
    input: z.object({
      status: z.enum(requestStatuses).optional(),
      request_id: requestId.optional(),
      since: moment.optional(),
    }),
    line: ({ status, request_id: id, since }) => [
      'webhook',
      'events',
      'list',
      ...given('status', status),
      ...given('request-id', id),
      ...given('since', since),
    ],
    answer: answers['webhook events list'] ?? anything,
    namesFrom: () => [asked],
  },
]
