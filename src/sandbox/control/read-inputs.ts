import { readFile, stat } from 'node:fs/promises'

import { parseDocument, visit } from 'yaml'
import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { fieldTypes } from '../../contract/package-schema.ts'
import { packageStatuses } from '../../contract/package.ts'
import { maxNesting } from '../../contract/parse-json.ts'
import { InvalidInputError, IoError, UsageError } from '../../errors/kinds.ts'
import { parseChoice, type Choices } from '../service/rules.ts'
import { checkWebhookUrl } from '../service/delivery.ts'
import { product, role, subscription, trial } from '../service/schemas.ts'

const permissionLevels = { none: 0, administrator: 2, requestor: 3, contributor: 4, analyst: 5 } as const

const permissionLevel = z.union([
  z
    .enum(Object.keys(permissionLevels) as (keyof typeof permissionLevels)[])
    .transform((name) => permissionLevels[name]),
  z.literal([0, 1, 2, 3, 4, 5]),
])

const user = z.strictObject({
  email: z.email(),
  first_name: z.string().default(''),
  last_name: z.string().default(''),
  role: role.default('member'),
  permissions: z.partialRecord(product, permissionLevel).optional(),
  teams: z.array(z.string()).optional(),
  job_title: z.string().optional(),
  active: z.boolean().optional(),
})

const field = z.strictObject({
  type: z.enum(fieldTypes),
  required: z.boolean().default(false),
  description: z.string().default(''),
})

const packageSchema = z.strictObject({
  id: z.int(),
  name: z.string(),
  status: z.enum(packageStatuses).optional(),
  roles: z.array(role).optional(),
  details: z
    .strictObject({
      reference_survey: z
        .strictObject({
          id: z.int(),
          name: z.string().nullable().default(null),
          min_referees: z.int().positive().default(1),
        })
        .nullable()
        .optional(),
      background_checks: z
        .array(
          z.strictObject({
            check_name: z.string().nullable().default(null),
            partner_name: z.string().nullable().default(null),
          }),
        )
        .optional(),
    })
    .optional(),
  additional_information: z
    .array(
      z.strictObject({ display_name: z.string(), code: z.string(), fields: z.record(z.string(), field) }),
    )
    .optional(),
})

/** "API keys are 32-character opaque values." */
const key = z.strictObject({ key: z.string().length(32), revoked: z.boolean().optional() })

const webhookUrl = z.string().superRefine((text, context) => {
  try {
    checkWebhookUrl(text)
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error))
  }
})

const organisation = z.strictObject({
  name: z.string(),
  credits: z.int().nonnegative().nullable().optional(),
  trial: trial.optional(),
  subscription: subscription.optional(),
  webhook: z.strictObject({ url: webhookUrl.optional(), secret: z.string().min(1).optional() }).optional(),
  keys: z
    .array(
      z.union([
        key,
        z
          .string()
          .length(32)
          .transform((text): z.infer<typeof key> => ({ key: text })),
      ]),
    )
    .optional(),
  teams: z.array(z.strictObject({ name: z.string(), active: z.boolean().optional() })).optional(),
  users: z.array(user).min(1),
  packages: z.array(packageSchema).optional(),
})

/**
 * Maximum size of a fixture. YAML's parser would take seconds for a larger one, and needs memory for each bracket.
 */
const maxBytes = 256 * 1024
const maxAliases = 100

const fixture = z.strictObject({ organisations: z.array(organisation).min(1) })
/** The data of a sandbox as a user writes it. */
export type Fixture = z.infer<typeof fixture>

/**
 * Reads a fixture from a JSON or YAML file (JSON is valid YAML). Throws a UsageError if there is no such file, an
 * IoError if it cannot be read, and an InvalidInputError with the line or path if it is not a fixture.
 */
export async function readFixture(path: string): Promise<Fixture> {
  let text: string | undefined
  try {
    text = (await stat(path)).size > maxBytes ? undefined : await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UsageError(`there is no fixture ${path}`, { hint: 'Check the path.' })
    }
    throw new IoError(`the fixture ${path} cannot be read`, {
      hint: 'Check the path and that you may read the file.',
      cause: error,
    })
  }
  if (text === undefined) throw tooLargeError(`the fixture ${path} is larger than ${maxBytes} bytes`)
  return parseFixture(text)
}

/** Parses a fixture from a text. Throws an InvalidInputError with the line or path if it is not a fixture. */
export function parseFixture(text: string): Fixture {
  const result = fixture.safeParse(parseYaml(text), formatIssues)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new InvalidInputError(`the fixture's ${formatPath(issue?.path ?? [])}: ${issue?.message ?? ''}`, {
      hint: 'Nothing was started. Fix the fixture.',
    })
  }
  const { organisations } = result.data
  requireUnique(
    organisations.flatMap(({ packages }) => (packages ?? []).map(({ id }) => id)),
    (id) => `the package id ${id}`,
  )
  requireUnique(
    organisations.flatMap(({ keys }) => (keys ?? []).map((entry) => entry.key)),
    () => 'an API key',
  )
  for (const { users, teams } of organisations) {
    requireUnique(
      users.map(({ email }) => email.toLowerCase()),
      (email) => `the e-mail "${email}"`,
    )
    const teamNames = new Set((teams ?? []).map(({ name }) => name))
    const unknownTeam = users.flatMap((each) => each.teams ?? []).find((name) => !teamNames.has(name))
    if (unknownTeam !== undefined)
      throw new InvalidInputError(`the fixture has a user in the team "${unknownTeam}", but no such team`)
  }
  return result.data
}

function parseYaml(text: string): unknown {
  if (hasManyOpenBrackets(text)) throw tooLargeError(`the fixture has more than ${maxNesting} open brackets`)
  // The parser's own search for duplicate names compares all pairs: minutes for a file of 256 KiB.
  const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) {
    const [start] = error.linePos ?? []
    const position = start === undefined ? '' : ` at line ${start.line}, column ${start.col}`
    throw new InvalidInputError(`the fixture is neither JSON nor YAML${position}`, {
      hint: 'Fix the file there; nothing was started.',
      cause: error,
    })
  }
  visit(document, {
    Map: (_, { items }) =>
      requireUnique(
        items.map((item) => String(item.key)),
        (name) => `"${name}"`,
      ),
  })
  try {
    return document.toJS({ maxAliasCount: maxAliases }) as unknown
  } catch (failure) {
    if (!(failure instanceof ReferenceError)) throw failure
    if (failure.message.startsWith('Excessive'))
      throw tooLargeError('the fixture has too many aliases of aliases')
    throw new InvalidInputError('the fixture has an alias whose anchor is missing', {
      hint: 'Nothing was started. Fix the fixture.',
    })
  }
}

/**
 * Returns true if more brackets are open than allowed. Brackets in quotes are counted too, since YAML has
 * three kinds of quotes.
 */
function hasManyOpenBrackets(text: string): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > maxNesting) return true
  }
  return false
}

const tooLargeError = (message: string): InvalidInputError =>
  new InvalidInputError(message, { hint: 'Nothing was started. Give a smaller fixture.' })

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text === '' ? 'text' : text.replace(/^\./, '')
}

function requireUnique<T>(values: readonly T[], describe: (value: T) => string): void {
  const earlierValues = new Set<T>()
  for (const value of values) {
    if (earlierValues.has(value))
      throw new InvalidInputError(`the fixture has ${describe(value)} more than once`)
    earlierValues.add(value)
  }
}

/**
 * Parses the values of --rule: each is `name=choice`, or the only one is `seeded`. Throws a UsageError for
 * any other text.
 */
export function parseRules(rules: readonly string[]): Partial<Choices> | 'seeded' | undefined {
  if (rules.length === 0) return undefined
  if (rules.length === 1 && rules[0] === 'seeded') return 'seeded'
  const choices: Partial<Choices> = {}
  for (const rule of rules) {
    const equalsIndex = rule.indexOf('=')
    if (equalsIndex === -1) {
      throw new UsageError(`--rule: "${rule.slice(0, 60)}" is not NAME=CHOICE`, {
        hint: 'List the names and choices with: refcheck sandbox rules',
      })
    }
    Object.assign(choices, parseChoice(rule.slice(0, equalsIndex), rule.slice(equalsIndex + 1)))
  }
  return choices
}

/** Exported for modules that start a sandbox, which may not import its service. */
export { parseNetworks } from '../service/gateway.ts'
