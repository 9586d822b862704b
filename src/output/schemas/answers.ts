import { z } from 'zod'

import { envelope } from '../../contract/envelope.ts'
import { packageResource } from '../../contract/package.ts'
import { packageSchema } from '../../contract/package-schema.ts'
import { user } from '../../contract/user.ts'
import { shells } from '../views/completion.ts'
import { count } from './document.ts'
import * as orders from './orders.ts'
import * as integration from './integration.ts'
import * as machine from './machine.ts'

const template = z.strictObject({
  path: z.string(),
  format: z.string(),
  package_id: z.int(),
  fields: count,
  required: count,
})

/** The commands that print JSON Lines, one document per line. `sandbox logs` does so only with --follow. */
export const jsonLinesCommands: readonly string[] = [
  'webhook listen',
  'sandbox logs',
  'sandbox start',
  'worker',
]

const answerWithHeaders = z.strictObject({
  status: z.int(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: envelope,
})

/** The schema of the answer that each command prints with --json. */
export const answers: Readonly<Record<string, z.ZodType>> = {
  api: z.union([answerWithHeaders, envelope]),
  approve: z.union([orders.created, orders.batchStatusShape]),
  'auth list': machine.profiles,
  'auth login': machine.login,
  'auth logout': machine.logout,
  'auth status': machine.sessionStatus,
  'auth switch': machine.switched,
  'batch cancel': orders.batchStatusShape,
  'batch export': orders.exported,
  'batch list': orders.list,
  'batch move': orders.batchStatusShape,
  'batch plan': orders.plan,
  'batch queue': orders.batchStatusShape,
  'batch reconcile': orders.reconciled,
  'batch release': orders.batchStatusShape,
  'batch resume': orders.sentBatch,
  'batch retry': orders.sentBatch,
  'batch rows': orders.rows,
  'batch run': orders.sentBatch,
  'batch status': orders.followedBatch,
  'batch validate': orders.check,
  completion: z.union([
    z.strictObject({ setup: z.record(z.enum(shells), z.string()) }),
    z.strictObject({ shell: z.enum(shells), script: z.string() }),
  ]),
  'config get': machine.setting,
  'config list': machine.settings,
  'config set': machine.changedSetting,
  'config unset': machine.removedSetting,
  doctor: machine.doctor,
  'packages list': z.array(packageResource),
  ping: machine.ping,
  quota: machine.quota,
  reference: integration.anyObject,
  'report download': orders.downloadedReports,
  'report sync': orders.syncedReports,
  'request create': orders.created,
  'request get': orders.readRequests,
  'request list': orders.listedRequests,
  'request wait': orders.readRequests,
  'sandbox advance': integration.state,
  'sandbox conformance': integration.conformance,
  'sandbox demo': integration.demo,
  'sandbox inject': integration.injected,
  'sandbox logs': z.union([z.array(integration.logEntry), integration.logEntry]),
  'sandbox openapi': integration.anyObject,
  'sandbox redeliver': integration.redelivered,
  'sandbox renew-key': integration.key,
  'sandbox reset': integration.state,
  'sandbox restore': integration.state,
  'sandbox rules': integration.rules,
  'sandbox scenarios': integration.scenarios,
  'sandbox set': integration.set,
  'sandbox snapshot': integration.anyObject,
  'sandbox start': integration.address,
  'sandbox status': integration.state,
  'sandbox trigger': z.union([integration.stories, integration.story]),
  'schema show': z.union([packageSchema, integration.anyObject]),
  'schema template': z.union([template, integration.anyObject]),
  status: orders.overview,
  'store accounts': machine.accounts,
  'store accounts add': machine.addedAccount,
  'store backup': machine.backup,
  'store check': machine.checked,
  'store info': machine.info,
  'store migrate': machine.migrated,
  'store move': machine.moved,
  'store purge': machine.purged,
  'store same-service': machine.sameService,
  'users list': z.array(user),
  'webhook check-receiver': integration.receiverCheck,
  'webhook events import': integration.imported,
  'webhook events list': integration.events,
  'webhook events drop': integration.dropped,
  'webhook events replay': integration.replayed,
  'webhook events show': integration.event,
  'webhook listen': integration.received,
  'webhook send': integration.sent,
  'webhook sign': integration.signature,
  'webhook verify': integration.verified,
  worker: machine.logged,
}
