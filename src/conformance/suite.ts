import type { Case } from './case.ts'
import { answerCases } from './cases/answers.ts'
import { authenticationCases } from './cases/authentication.ts'
import { createInformationCases } from './cases/create-information.ts'
import { createRefusalCases } from './cases/create-refusals.ts'
import { createCases } from './cases/create.ts'
import { packageCases } from './cases/packages.ts'
import { pingCases } from './cases/ping.ts'
import { reportCases } from './cases/reports.ts'
import { requestCases } from './cases/requests.ts'
import { schemaCases } from './cases/schema.ts'
import { standingCases } from './cases/standing.ts'
import { statusCases } from './cases/statuses.ts'
import { throttleCases } from './cases/throttle.ts'
import { userCases } from './cases/users.ts'
import { versioningCases } from './cases/versioning.ts'
import { webhookDeliveryCases } from './cases/webhook-delivery.ts'
import { webhookCases } from './cases/webhook.ts'
import { lastingCases } from './cases/lasting.ts'
import { createFormCases } from './cases/create-forms.ts'
import { roleCases } from './cases/roles.ts'
import { quotaScopeCases } from './cases/quota-scope.ts'
import { reportTokenCases } from './cases/report-tokens.ts'

/**
 * All rules that can be seen over HTTP, in the order they are asked: what only reads, what orders,
 * what uses up the quota, what cannot be taken back, and at last what holds for every answer there was.
 */
export const suite: readonly Case[] = [
  ...pingCases,
  ...versioningCases,
  ...authenticationCases,
  ...packageCases,
  ...schemaCases,
  ...userCases,
  ...createCases,
  ...requestCases,
  ...statusCases,
  ...reportCases,
  ...reportTokenCases,
  ...webhookCases,
  ...webhookDeliveryCases,
  ...createRefusalCases,
  ...createInformationCases,
  ...createFormCases,
  ...roleCases,
  ...throttleCases,
  ...quotaScopeCases,
  ...lastingCases,
  ...standingCases,
  ...answerCases,
]
