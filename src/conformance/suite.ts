import type { Case } from './case.ts'
import { accessCases, roleCases, userStatusCases } from './cases/access.ts'
import { answerCases } from './cases/answers.ts'
import { createCases, createFormCases, createInformationCases, createRefusalCases } from './cases/create.ts'
import { packageCases, schemaCases } from './cases/packages.ts'
import { reportCases, reportTokenCases } from './cases/reports.ts'
import { lastingCases, requestCases, statusCases } from './cases/requests.ts'
import { quotaScopeCases, throttleCases } from './cases/throttle.ts'
import { userCases } from './cases/users.ts'
import { webhookCases, webhookDeliveryCases } from './cases/webhook.ts'

/**
 * All rules that can be seen over HTTP, in the order they are asked: what only reads, what orders,
 * what uses up the quota, what cannot be taken back, and at last what holds for every answer there was.
 */
export const suite: readonly Case[] = [
  ...accessCases,
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
  ...userStatusCases,
  ...answerCases,
]
