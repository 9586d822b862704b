import { Args, BaseCommand, Flags } from '../cli/base-command.ts'
import { timeoutFlag } from '../cli/flags/values.ts'
import { createApproval, openFileOfPlan } from '../app/approval.ts'
import { createPlanServices, createStartServices, orderPrompts } from '../app/batch.ts'
import { storePackageSuccessors, createOrderServices, createOrderAndWaitServices } from '../app/request.ts'
import { batchView, withoutRepeatedHint } from '../app/batch.ts'
import { parsePlanCode } from '../domain/approval/order-plan.ts'
import type { OrderPlan, PlanContent } from '../domain/approval/order-plan.ts'
import {
  orderCostText,
  plannedPeopleText,
  columnChoicesText,
  plannedText,
  unstartedView,
} from '../output/views/batch-check.ts'
import { createdView, createReviewPrinter } from '../output/views/order.ts'
import { approveFile, approveOrder } from '../usecases/approval/approve.ts'
import { SimilarQuestion } from '../usecases/request/create.ts'
import { type Approval, findApprovablePlan } from '../usecases/approval/plans.ts'

type PlannedBatch = Extract<PlanContent, { kind: 'batch' }>

export default class Approve extends BaseCommand<typeof Approve> {
  static override summary = 'Order what an agent has planned'
  static override description = [
    'Shows the plan as "refcheck request create" or "refcheck batch run" would, asks for confirmation and orders. Without CODE it lists the plans that wait. A plan is used once and expires after 24 hours; it is refused if the plan, the profile, the service or the user has changed since.',
    'Only a person can approve: stdin, stdout and stderr have to be a terminal, no flag or setting confirms, and a program that runs an agent cannot start it. See: refcheck help agents',
  ].join('\n\n')
  static override examples = ['refcheck approve', 'refcheck approve KXRT-WMPH']
  static override args = {
    code: Args.string({
      ignoreStdin: true,
      description: 'code of the plan, as the agent told it',
      parse: async (text) => parsePlanCode(text),
    }),
  }
  static override flags = {
    'allow-duplicate': Flags.boolean({ summary: 'Order even if the same order exists' }),
    'allow-similar': Flags.boolean({ summary: 'Order even if somebody similar was ordered before' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { code } = this.args
    const approval = await createApproval(this.app, code)
    const plan = await findApprovablePlan(approval, code)
    this.app.reporter.note(plannedText(plan))
    const { what: content } = plan
    return content.kind === 'order'
      ? this.orderSingle(approval, plan, content.body)
      : this.orderBatch(approval, plan, content)
  }

  private async orderSingle(approval: Approval, plan: OrderPlan, body: string): Promise<void> {
    const { app, signal, allowFlags } = this
    const { reporter } = app
    const printReviewPage = createReviewPrinter(reporter)
    // The governor limits the calls of all processes to the quota of the service.
    const { windows: quotaWindows } = await (await app.service('governor')).status()
    const outcome = await approveOrder(approval, plan, body, {
      api: await app.service('api'),
      schemas: await app.service('schemas'),
      prompter: approval.prompter,
      onPackages: storePackageSuccessors(app),
      similarQuestion: new SimilarQuestion(
        () => createOrderServices(app, signal),
        approval.prompter,
        allowFlags,
      ),
      createOrderingServices: async () => ({
        ...(await createOrderAndWaitServices(app, signal)),
        ...allowFlags,
      }),
      signal,
      showPage: (rows, pack, page) => {
        const pageCount = printReviewPage(rows, pack, page)
        reporter.note(orderCostText(quotaWindows))
        return pageCount
      },
    })
    this.answer(createdView(outcome.result), outcome.failure)
    reporter.note(`Follow it with: refcheck request wait ${outcome.result.request_id}`)
  }

  private async orderBatch(approval: Approval, plan: OrderPlan, content: PlannedBatch): Promise<void> {
    const { app, signal } = this
    const { reporter } = app
    if (content.rows !== null) reporter.printBlock(plannedPeopleText(content.rows, reporter.terminal))
    // `shared`: e-mails and phones that several people may share; a plan allows none.
    const allowances = { ...this.allowFlags, shared: [], ignoreResults: false }
    const planned = await openFileOfPlan(app, plan.code, content, allowances)
    if (content.rows === null) {
      const choicesText = columnChoicesText(planned.columns)
      if (choicesText !== '') reporter.note(choicesText)
    }
    const displayOptions = { quiet: false, yes: false, showChanges: true }
    const outcome = await approveFile(approval, plan, planned, {
      planning: { ...(await createPlanServices(app)), signal },
      prompts: orderPrompts(app, displayOptions, (question) => this.confirm(question, false))(
        planned.file.name,
      ),
      createSendingServices: () => createStartServices(app, signal),
    })
    if (outcome.kind === 'unstarted') {
      return this.answer(unstartedView(outcome, planned.file.name, true), outcome.failure)
    }
    const { batch, failure } = outcome.run
    this.answer(await batchView(app, withoutRepeatedHint(batch, failure), this.flags.json), failure)
  }

  private get allowFlags() {
    return { allowDuplicate: this.flags['allow-duplicate'], allowSimilar: this.flags['allow-similar'] }
  }
}
