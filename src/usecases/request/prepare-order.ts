import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import { isJsonObject } from '../../contract/parse-json.ts'
import type { RequestBody } from '../../contract/request.ts'
import { likelySuccessor } from '../../domain/batch/package-replacement.ts'
import { orderQuestion, packageWithName } from '../../domain/submission/confirmation.ts'
import { type BodyFlags, bodyFromFlags } from '../../domain/form/flags.ts'
import { createImplausibleFinder, implausibleText } from '../../domain/form/implausible.ts'
import { type PhoneRepair, withNationalPhone } from '../../domain/form/recipient.ts'
import { type Change, problemsError, type FieldNaming } from '../../domain/form/problem.ts'
import type { ReviewRow } from '../../domain/form/fields.ts'
import { type DraftBody, validateBody, validateDraft } from '../../domain/form/validate.ts'
import type { Order } from '../../domain/request/result.ts'
import {
  InvalidInputError,
  NotFoundError,
  PromptBackError,
  RefcheckError,
  UsageError,
} from '../../errors/kinds.ts'
import { activePackages, choosePackage, loadSchema, type SchemaSource } from '../form/package.ts'
import { interview, type InterviewOptions } from '../form/interview.ts'
import type { Prompter } from '../../prompt/prompter.ts'

/** The parts of an order that the command line or a draft contains, before the user is asked. */
export interface GivenOrder {
  packageId: number | undefined
  /** A complete body from a file; of the flags, only the package may be given then. */
  body: unknown
  flags: BodyFlags
  /** Answers of a stored draft, which replace the flags. */
  draft?: DraftBody | undefined
}

export interface PrepareOptions extends SchemaSource {
  /** Called with all packages of the service, so that replaced ones can be stored. */
  onPackages?: ((packages: readonly Package[]) => Promise<void>) | undefined
  /** Undefined without a terminal. */
  prompter: Prompter | undefined
  /** Whether the user has confirmed the order with `--yes`, so that nothing is reviewed. */
  yes: boolean
  /** Whether the order can only be confirmed or cancelled, and not changed. */
  isFixed?: boolean | undefined
  /** Shows a page of the answers for review. Returns the number of pages. */
  showPage: (rows: ReviewRow[], pack: Package, page: number) => number
  /** Reads phone numbers without + as numbers of the country that the user named. */
  repair?: PhoneRepair | undefined
  /** Returns a warning about the order for the final question. */
  orderWarning?: ((body: RequestBody) => Promise<string | undefined>) | undefined
  /**
   * Today's date as `YYYY-MM-DD`. Values that are improbable on it are asked about, or reported without a
   * terminal.
   */
  today?: string | undefined
  onImprobable?: ((text: string) => void) | undefined
  /** These options are explained at InterviewOptions. */
  canGoBack?: InterviewOptions['canGoBack']
  flagsToRepeat?: InterviewOptions['flagsToRepeat']
  onPerson?: InterviewOptions['onPerson']
  onDrop?: InterviewOptions['onDrop']
  onAnswer?: ((draft: DraftBody, pack: Package) => Promise<void>) | undefined
  /**
   * Called if the package of a stored draft cannot be ordered any more; `problem` says why. Returns whether the order is
   * continued with the package that probably replaced it.
   */
  onUnavailable?: ((problem: string, successor: Package | undefined) => Promise<boolean>) | undefined
}

/**
 * Assembles an order: checks the given values and asks for the missing ones. Nothing is ordered. Refuses a package
 * that is not ACTIVE ("only ACTIVE packages can be used to create requests").
 */
export async function prepareOrder(requested: GivenOrder, options: PrepareOptions): Promise<Order> {
  const { prompter, api, signal, onPackages } = options
  const id = packageIdOf(requested)
  if (id === undefined && prompter === undefined) {
    throw new UsageError('--package is required', {
      hint: 'List the packages with: refcheck packages list --status active',
    })
  }
  const packages = await api.listPackages(undefined, signal)
  await onPackages?.(packages)
  return id === undefined && prompter !== undefined
    ? prepareChosenPackage(prompter, packages, requested, options)
    : prepareForPackage(await findOrderable(id, packages, requested, options), requested, options)
}

/** Returns the package of an order, or of a stored draft the package that replaced it, if the user continues with that. */
async function findOrderable(
  id: number | undefined,
  packages: readonly Package[],
  { draft }: GivenOrder,
  { onUnavailable }: PrepareOptions,
): Promise<Package> {
  try {
    return requireOrderable(id, packages)
  } catch (error) {
    if (draft === undefined || !(error instanceof RefcheckError)) throw error
    const successor = findSuccessor(id, packages)
    if ((await onUnavailable?.(error.message, successor)) === true && successor !== undefined)
      return successor
    throw error
  }
}

function findSuccessor(id: number | undefined, packages: readonly Package[]): Package | undefined {
  const pack = packages.find((each) => each.id === id)
  return pack && likelySuccessor(pack, packages)
}

/**
 * Prepares an order for a package that the user chooses. The back key returns from the first question to this choice
 * and keeps all answers.
 */
async function prepareChosenPackage(
  prompter: Prompter,
  packages: readonly Package[],
  given: GivenOrder,
  options: PrepareOptions,
): Promise<Order> {
  const { onAnswer } = options
  const canGoBack = activePackages(packages).length > 1
  let answers: DraftBody | undefined
  for (let chosenPackage: Package | undefined; ;) {
    chosenPackage = await choosePackage(prompter, packages, chosenPackage)
    const saveAnswers = async (draft: DraftBody, pack: Package): Promise<void> => {
      answers = draft
      await onAnswer?.(draft, pack)
    }
    if (answers !== undefined) await saveAnswers({ ...answers, package_id: chosenPackage.id }, chosenPackage)
    try {
      return await prepareForPackage(
        chosenPackage,
        { ...given, draft: answers },
        { ...options, canGoBack, onAnswer: saveAnswers },
      )
    } catch (error) {
      if (!(error instanceof PromptBackError)) throw error
    }
  }
}

async function prepareForPackage(pack: Package, given: GivenOrder, options: PrepareOptions): Promise<Order> {
  const { prompter, yes } = options
  const schema = await loadSchema(pack.id, options)
  if (given.body !== undefined) {
    const repaired = withNationalPhone(given.body, options.repair)
    const confirmedBody = await confirmBody(
      checkBody(repaired.body, schema, 'json'),
      { pack, schema },
      options,
    )
    return {
      ...confirmedBody,
      changes: [...repaired.changes, ...confirmedBody.changes],
      package: pack,
      schema,
    }
  }
  // Flags are checked against the schema even if a draft replaces them.
  const flagsBody = bodyFromFlags(given.flags, schema)
  // The package of a draft may have been replaced meanwhile.
  const stored = given.draft && { ...given.draft, package_id: pack.id }
  const { body: draft, changes } = withNationalPhone(stored ?? flagsBody, options.repair)
  if (prompter === undefined) {
    const checkedBody = checkBody(draft, schema, 'flags')
    requireYes(yes)
    reportImprobable(checkedBody.body, schema, options)
    return { ...checkedBody, changes: [...changes, ...checkedBody.changes], package: pack, schema }
  }
  changes.push(...(validateDraft(draft, schema).changes ?? []))
  const isResumed = given.draft !== undefined
  const body = await askMissing(prompter, draft, { pack, schema, isResumed }, options)
  if (yes) reportImprobable(body, schema, options)
  return { body, changes, package: pack, schema }
}

/** Returns the package with this id. Throws if the user cannot see it or it is not ACTIVE. */
function requireOrderable(id: number | undefined, packages: readonly Package[]): Package {
  const pack = packages.find((each) => each.id === id)
  if (pack === undefined) {
    throw new NotFoundError(`package ${id} was not found for this user`, {
      field: 'package_id',
      hint: 'List the packages with: refcheck packages list',
    })
  }
  if (pack.status !== 'ACTIVE') {
    const successor = likelySuccessor(pack, packages)
    throw new InvalidInputError(
      `package ${id} (${pack.name}) is ${pack.status}; only ACTIVE packages can be ordered`,
      {
        field: 'package_id',
        hint:
          successor === undefined
            ? 'Nothing was sent. Look for a successor with: refcheck packages list --status active'
            : `Nothing was sent. Package ${packageWithName(successor)} probably replaces it: order it with --package ${successor.id}`,
      },
    )
  }
  return pack
}

function packageIdOf({ packageId, body }: GivenOrder): number | undefined {
  if (body !== undefined && !isJsonObject(body)) {
    throw new InvalidInputError('the body is not a JSON object', {
      hint: 'It has to be one object with package_id and recipient, described by: refcheck schema show ID --json-schema',
    })
  }
  const bodyPackageId = body?.['package_id']
  if (packageId !== undefined && bodyPackageId !== undefined && bodyPackageId !== packageId) {
    throw new UsageError(`--package is ${packageId}, but the body has ${JSON.stringify(bodyPackageId)}`, {
      hint: 'Leave out --package, or correct the body.',
    })
  }
  if (body !== undefined && bodyPackageId === undefined && packageId === undefined) {
    throw new InvalidInputError('package_id: is required', {
      field: 'package_id',
      hint: 'Add it to the body.',
    })
  }
  if (
    bodyPackageId !== undefined &&
    (typeof bodyPackageId !== 'number' || !Number.isSafeInteger(bodyPackageId) || bodyPackageId < 1)
  ) {
    throw new InvalidInputError(`package_id: ${JSON.stringify(bodyPackageId)} is not a whole number`, {
      field: 'package_id',
      hint: 'List the packages with: refcheck packages list',
    })
  }
  return packageId ?? bodyPackageId
}

function checkBody(
  input: unknown,
  schema: PackageSchema,
  naming: FieldNaming,
): { body: RequestBody; changes: Change[] } {
  const withPackage = isJsonObject(input) ? { package_id: schema.id, ...input } : input
  const { body, changes, problems } = validateBody(withPackage, schema)
  if (problems !== undefined) {
    throw problemsError(
      problems,
      `Nothing was sent. Show the fields with: refcheck schema show ${schema.id}`,
      naming,
    )
  }
  return { body, changes }
}

/** Shows a complete body on a terminal, where the user may change it before it is sent. */
async function confirmBody(
  complete: { body: RequestBody; changes: Change[] },
  order: { pack: Package; schema: PackageSchema },
  options: PrepareOptions,
): Promise<{ body: RequestBody; changes: Change[] }> {
  const { yes, prompter } = options
  if (prompter === undefined) requireYes(yes)
  if (yes || prompter === undefined) {
    reportImprobable(complete.body, order.schema, options)
    return complete
  }
  return { ...complete, body: await askMissing(prompter, complete.body, order, options) }
}

/**
 * Asks for missing values and shows the review. The last question states the order, after a warning if there is one.
 */
async function askMissing(
  prompter: Prompter,
  draft: DraftBody,
  { pack, schema, isResumed }: { pack: Package; schema: PackageSchema; isResumed?: boolean },
  options: PrepareOptions,
): Promise<RequestBody> {
  const { api, showPage, yes, isFixed, repair, orderWarning, today } = options
  const { canGoBack, flagsToRepeat, onPerson, onAnswer, onDrop } = options
  return interview(prompter, schema, draft, {
    showPage: (rows, page) => showPage(rows, pack, page),
    hasReview: !yes,
    isFixed,
    isResumed,
    repair,
    today,
    canGoBack,
    onPerson,
    onAnswer: (answers) => onAnswer?.(answers, pack) ?? Promise.resolve(),
    onDrop,
    flagsToRepeat,
    async lastQuestion(body) {
      const warning = await orderWarning?.(body)
      const question = orderQuestion({ package: pack, count: 1, people: [body.recipient] }, api)
      return warning === undefined ? question : `${warning} ${question}`
    },
  })
}

/** Reports improbable values if there is no terminal to ask on. */
function reportImprobable(
  body: RequestBody,
  schema: PackageSchema,
  { today, onImprobable }: PrepareOptions,
): void {
  if (today === undefined) return
  for (const implausible of createImplausibleFinder(schema, today)(body))
    onImprobable?.(implausibleText(implausible))
}

function requireYes(yes: boolean): void {
  if (yes) return
  throw new UsageError('ordering needs a confirmation, and there is no terminal to ask on', {
    hint: 'Nothing was sent. Add --yes to order without confirmation, or --dry-run to see what would be sent.',
  })
}
