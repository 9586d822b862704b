export type Json = Record<string, unknown>

export const uuid = { type: 'string', format: 'uuid' }

/** As exact as JSON numbers are. */
export const integer = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

/** Every property required. */
export function object(properties: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** "Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response" ("What the service does"). */
export const cacheHeaders = Object.fromEntries(
  ['Cache-Control', 'Pragma', 'Expires'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const response = (name: string): Json => ({ $ref: `#/components/responses/${name}` })

const failures: Record<string, Json> = {
  '400': response('BadRequest'),
  '401': response('Unauthenticated'),
  '403': response('Forbidden'),
  '404': response('NotFound'),
  '429': response('Throttled'),
  '4XX': response('Unavailable'),
  '5XX': response('ServerError'),
}

/** The answers of an operation: its success in the envelope, and the failures that the document names for it. */
function answers(success: { status: '200' | '201'; schema: string }, ...statuses: string[]): Json {
  const data = { $ref: `#/components/schemas/${success.schema}` }
  const envelope = object({ data, status_message: { const: 'ok' }, message: { type: 'string' } })
  return {
    [success.status]: {
      description: 'Done.',
      headers: cacheHeaders,
      content: { 'application/json': { schema: envelope } },
    },
    ...Object.fromEntries(statuses.map((status) => [status, failures[status]])),
  }
}

/** Every endpoint of the document. */
export function openApiPaths(): Json {
  const paths = { ...packagePaths(), ...requestPaths(), ...reportPaths() } as Record<string, Json>
  for (const operations of Object.values(paths)) {
    for (const operation of Object.values(operations) as Json[]) {
      const { summary } = operation
      Object.assign(operation, { tags: ['service'], description: operation['description'] ?? summary })
    }
  }
  return paths
}

function packagePaths(): Json {
  return {
    '/v1/ping': {
      get: {
        operationId: 'ping',
        summary: 'Is the API up?',
        security: [],
        responses: answers({ status: '200', schema: 'Ping' }, '4XX', '5XX'),
      },
    },
    '/v1/packages': {
      get: {
        operationId: 'listPackages',
        summary: 'Packages available to the organisation and the user.',
        parameters: [
          {
            name: 'status',
            in: 'query',
            schema: { type: 'string', enum: ['active', 'inactive', 'disabled'] },
          },
          { name: 'id', in: 'query', schema: integer },
        ],
        responses: answers({ status: '200', schema: 'PackageList' }, '400', '401', '403', '429', '5XX'),
      },
    },
    '/v1/packages/{id}/schema': {
      get: {
        operationId: 'packageSchema',
        summary: 'The input schema of a package.',
        parameters: [inPath('id', integer)],
        responses: answers({ status: '200', schema: 'PackageSchema' }, '401', '403', '404', '429', '5XX'),
      },
    },
  }
}

function requestPaths(): Json {
  return {
    '/v1/requests': {
      post: {
        operationId: 'createRequest',
        summary: 'Create a request. Not idempotent: a retry can create a second one.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/RequestBody' } } },
        },
        responses: answers(
          { status: '201', schema: 'CreatedRequest' },
          '400',
          '401',
          '403',
          '404',
          '429',
          '5XX',
        ),
      },
    },
    '/v1/requests/{request_id}': {
      get: {
        operationId: 'getRequest',
        summary: 'A request with its checks and referees; each read makes fresh report URLs.',
        parameters: [inPath('request_id', uuid)],
        responses: answers({ status: '200', schema: 'Request' }, '401', '403', '404', '429', '5XX'),
      },
    },
  }
}

function reportPaths(): Json {
  return {
    '/v1/reports/{check_id}': {
      get: report('downloadReport', 'The PDF of a completed background check.', [inPath('check_id', uuid)]),
    },
    '/v1/reports/{check_id}/referees/{referee_id}': {
      get: report('downloadRefereeReport', 'The PDF of one referee.', [
        inPath('check_id', uuid),
        inPath('referee_id', { type: 'string' }),
      ]),
    },
    '/v1/users': {
      get: {
        operationId: 'listUsers',
        summary: 'The active users of the organisation.',
        responses: answers({ status: '200', schema: 'UserList' }, '401', '403', '429', '5XX'),
      },
    },
  }
}

function inPath(name: string, schema: Json): Json {
  return { name, in: 'path', required: true, schema }
}

const reportToken = {
  name: 't',
  in: 'query',
  description: 'Signed token of `report_pdf_url`: valid 1 hour; replaces the authentication headers.',
  schema: { type: 'string' },
}

/** Bytes, as generators know them. */
const pdf = { type: 'string', format: 'binary' }

function report(operationId: string, summary: string, parameters: Json[]): Json {
  const statuses = ['401', '403', '404', '429', '5XX']
  return {
    operationId,
    summary,
    // `t` replaces the headers; as a scheme of security a client might put its key there.
    security: [{ apiKey: [], userEmail: [] }, {}],
    parameters: [...parameters, reportToken],
    responses: {
      '200': {
        description: 'The PDF.',
        headers: cacheHeaders,
        content: { 'application/pdf': { schema: pdf } },
      },
      ...Object.fromEntries(statuses.map((status) => [status, failures[status]])),
    },
  }
}
