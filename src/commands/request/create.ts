import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { defaultCountryFlag } from '../../cli/flags/people.ts'
import {
  bodyFlagDefinitions,
  bodyFlagValues,
  flagsAffectingOrder,
  requireOneSource,
  resumeLine,
} from '../../cli/flags/people.ts'
import { timeoutFlag, packageIdFlag } from '../../cli/flags/values.ts'
import { readInput } from '../../app/input.ts'
import { parseBodyFile } from '../../domain/form/json-text.ts'
import { duplicateError } from '../../domain/submission/duplicate.ts'
import { commandLine } from '../../domain/form/flags.ts'
import type { Order } from '../../domain/request/result.ts'
import { bodyView, changeText, createdView } from '../../output/views/order.ts'
import { SimilarQuestion } from '../../usecases/request/create.ts'
import { placeOrder } from '../../usecases/request/order-and-wait.ts'
import type { DraftKeeper } from '../../usecases/request/draft-keeper.ts'
import { createDraftKeeper, createPrepareOptions } from '../../app/order.ts'
import { prepareOrder } from '../../usecases/request/prepare-order.ts'
import { createOrderServices, createOrderAndWaitServices } from '../../app/request.ts'

export default class RequestCreate extends BaseCommand<typeof RequestCreate> {
  static override summary = 'Order a package of checks on one person'
  static override description = [
    'On a terminal it asks for everything the flags leave out, shows a review, and asks for confirmation. Without a terminal every value has to be given, with --yes.',
    'Each order is recorded before it is sent, and sent once. The same package for the same person is refused (exit 2) unless --allow-duplicate is given. Exit 8: the order may or may not have been accepted; it is not sent again until that is settled.',
  ].join('\n\n')
  static override examples = [
    'refcheck request create',
    'refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes',
    'refcheck request create --file body.json --dry-run',
  ]
  static override flags = {
    package: packageIdFlag({ summary: 'Package to order (default: the setting "package")' }),
    ...bodyFlagDefinitions,
    'default-country': defaultCountryFlag,
    file: Flags.string({ summary: 'Read the whole order from a JSON file; - for stdin', helpValue: 'FILE' }),
    resume: Flags.boolean({ summary: 'Continue from the answers of an order that was not finished' }),
    'dry-run': Flags.boolean({ summary: 'Check everything and print the order, send nothing' }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
    wait: Flags.boolean({ summary: 'Wait until the request has finished' }),
    'allow-duplicate': Flags.boolean({ summary: 'Order even if the same order exists' }),
    'allow-similar': Flags.boolean({ summary: 'Order even if somebody similar was ordered before' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, app } = this
    const draftKeeper = createDraftKeeper(app, resumeLine(flags))
    try {
      await this.order(draftKeeper)
    } catch (error) {
      throw await draftKeeper.withResumeHint(error)
    }
  }

  private async order(draftKeeper: DraftKeeper): Promise<void> {
    const { flags, app, signal } = this
    const allowFlags = { allowDuplicate: flags['allow-duplicate'], allowSimilar: flags['allow-similar'] }
    const question = new SimilarQuestion(() => createOrderServices(app, signal), app.prompter(), allowFlags)
    const order = await this.compose(question, draftKeeper)
    for (const change of order.changes)
      app.reporter.note(changeText(change, flags.file === undefined ? 'flags' : 'json'))
    if (flags['dry-run']) {
      const repeatedOrderText = await question.describeRepeatedOrder(order.body)
      if (repeatedOrderText !== undefined) app.reporter.note(repeatedOrderText)
      app.reporter.note('Dry run: nothing was sent.')
      const conflict = await question.previewConflict(order.body)
      return this.answer(
        bodyView(order.body),
        conflict && duplicateError(conflict, (await app.service('api')).baseUrl),
      )
    }
    const outcome = await placeOrder(order, {
      ...(await createOrderAndWaitServices(app, signal)),
      ...allowFlags,
      onSimilar: app.prompter() && ((conflict) => question.isConfirmed(conflict, order.body)),
      onAccepted: () => draftKeeper.deleteDraft(),
      shouldWait: flags.wait,
    })
    this.answer(createdView(outcome.result), outcome.failure)
    if (app.prompter() !== undefined && !flags.yes) {
      const command = commandLine(order.body, order.schema, question.allowFlags())
      app.reporter.note(`The same order as one command:\n  ${command}`)
    }
    if (!flags.wait) app.reporter.note(`Follow it with: refcheck request wait ${outcome.result.request_id}`)
  }

  private async compose(similarQuestion: SimilarQuestion, draftKeeper: DraftKeeper): Promise<Order> {
    const { flags, app } = this
    const { file } = flags
    requireOneSource(flags)
    const draft = flags.resume
      ? await draftKeeper.findDraftToResume(flags.package, app.prompter())
      : undefined
    const packageId = flags.package ?? draft?.package_id
    const orderSource = {
      packageId: packageId ?? (file === undefined ? await app.packageSetting() : undefined),
      body:
        file === undefined
          ? undefined
          : parseBodyFile(await readInput(this.context, file, 'the body'), file === '-' ? 'stdin' : file),
      flags: bodyFlagValues(flags),
      draft,
    }
    const formFlags = { country: flags['default-country'], yes: flags.yes || flags['dry-run'] }
    const options = await createPrepareOptions(app, this.signal, formFlags, {
      similarQuestion,
      draftKeeper,
    })
    return prepareOrder(orderSource, { ...options, flagsToRepeat: flagsAffectingOrder(flags) })
  }
}
