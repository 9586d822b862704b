import { parsePackageId, requestIdStart } from '../../domain/request/id-start.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Args, Flags } from '../oclif.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A UUID as the API writes it, in lowercase; UsageError for anything else. */
export function parseUuid(text: string, what: string): string {
  if (!uuidPattern.test(text)) {
    throw new UsageError(`${what}: "${redactArgument(text)}" is not a whole id`, {
      hint: 'An id looks like 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.',
    })
  }
  return text.toLowerCase()
}

export const packageIdArg = Args.custom<number>({
  ignoreStdin: true,
  async parse(text) {
    return parsePackageId(text, 'PACKAGE_ID')
  },
})

export const packageIdFlag = Flags.custom<number>({
  helpValue: 'ID',
  async parse(text, _context, options) {
    return parsePackageId(text, `--${options.name}`)
  },
})

export const uuidFlag = Flags.custom({
  helpValue: 'UUID',
  async parse(text, _context, options) {
    return parseUuid(text, `--${options.name}`)
  },
})

/** An id, the start of one, or on a terminal a person; see requestIdsOf of app/ids. */
export const requestArg = Args.custom({ ignoreStdin: true })
export const requestFlag = Flags.custom({ helpValue: 'REQUEST_ID' })

/** An id or the start of one; see requestIdOf of app/ids. */
export const requestIdFlag = Flags.custom({
  helpValue: 'REQUEST_ID',
  async parse(text, _context, options) {
    return requestIdStart(text, `--${options.name}`)
  },
})

/** A batch's id, or the first characters of it, in lowercase. */
function parseBatchId(text: string, what: string): string {
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(text)) return text.toLowerCase()
  throw new UsageError(`${what}: "${redactArgument(text)}" is not a batch id`, {
    hint: 'Give at least the first 4 characters of the id. List the batches with: refcheck batch list',
  })
}

export const batchIdArg = Args.custom({
  ignoreStdin: true,
  async parse(text) {
    return parseBatchId(text, 'BATCH_ID')
  },
})

export const batchArgs = {
  batch_id: batchIdArg({ required: true, description: 'id of a batch, or the start of it' }),
}

export const batchIdFlag = Flags.custom({
  helpValue: 'BATCH_ID',
  async parse(text, _context, options) {
    return parseBatchId(text, `--${options.name}`)
  },
})
