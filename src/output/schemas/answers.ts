import { z } from 'zod'

import { envelope } from '../../contract/envelope.ts'
import { packageResource } from '../../contract/package.ts'
import { packageSchema } from '../../contract/package-schema.ts'
import { user } from '../../contract/user.ts'
import { shells } from '../views/completion.ts'
import * as batches from './batches.ts'
import { count } from './document.ts'
import * as overview from './overview.ts'
import * as requests from './requests.ts'
import * as sandbox from './sandbox.ts'
import * as session from './session.ts'
import * as store from './store.ts'
import * as webhook from './webhook.ts'
import * as worker from './worker.ts'

const template = z.strictObject({
  path: z.string(),
  format: z.string(),
  package_id: z.int(),
  fields: count,
  required: count,
})

/** Commands of `webhook listen`'s kind print a document a line; `sandbox logs` where it follows. */
export const printsLines: readonly string[] = ['webhook listen', 'sandbox logs', 'sandbox start', 'worker']

const included = z.strictObject({
  status: z.int(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: envelope,
})

/** What each command answers with --json. */
export const answers: Readonly<Record<string, z.ZodType>> = {
  api: z.union([included, envelope]),
  approve: z.union([requests.created, batches.batchStatusShape]),
  'auth list': session.profiles,
  'auth login': session.login,
  'auth logout': session.logout,
  'auth status': session.sessionStatus,
  'auth switch': session.switched,
  'batch cancel': batches.batchStatusShape,
  'batch export': batches.exported,
  'batch list': batches.list,
  'batch move': batches.batchStatusShape,
  'batch plan': batches.plan,
  'batch queue': batches.batchStatusShape,
  'batch reconcile': batches.reconciled,
  'batch release': batches.batchStatusShape,
  'batch resume': batches.batchStatusShape,
  'batch retry': batches.batchStatusShape,
  'batch rows': batches.rows,
  'batch run': batches.batchStatusShape,
  'batch status': overview.followedBatch,
  'batch validate': batches.check,
  completion: z.union([
    z.strictObject({ setup: z.record(z.enum(shells), z.string()) }),
    z.strictObject({ shell: z.enum(shells), script: z.string() }),
  ]),
  'config get': session.setting,
  'config list': session.settings,
  'config set': session.changedSetting,
  'config unset': session.removedSetting,
  doctor: session.doctor,
  'packages list': z.array(packageResource),
  ping: session.ping,
  quota: session.quota,
  reference: sandbox.anyObject,
  'report download': requests.downloadedReports,
  'report sync': requests.syncedReports,
  'request create': requests.created,
  'request get': requests.readRequests,
  'request list': requests.listedRequests,
  'request wait': requests.readRequests,
  'sandbox advance': sandbox.state,
  'sandbox conformance': sandbox.conformance,
  'sandbox demo': sandbox.demo,
  'sandbox inject': sandbox.injected,
  'sandbox logs': z.union([z.array(sandbox.logEntry), sandbox.logEntry]),
  'sandbox openapi': sandbox.anyObject,
  'sandbox redeliver': sandbox.redelivered,
  'sandbox renew-key': sandbox.key,
  'sandbox reset': sandbox.state,
  'sandbox restore': sandbox.state,
  'sandbox rules': sandbox.rules,
  'sandbox scenarios': sandbox.scenarios,
  'sandbox set': sandbox.set,
  'sandbox snapshot': sandbox.anyObject,
  'sandbox start': sandbox.address,
  'sandbox status': sandbox.state,
  'sandbox trigger': z.union([sandbox.stories, sandbox.story]),
  'schema show': z.union([packageSchema, sandbox.anyObject]),
  'schema template': z.union([template, sandbox.anyObject]),
  status: overview.overview,
  'store accounts': store.accounts,
  'store accounts add': store.addedAccount,
  'store backup': store.backup,
  'store check': store.checked,
  'store info': store.info,
  'store migrate': store.migrated,
  'store move': store.moved,
  'store purge': store.purged,
  'store same-service': store.sameService,
  'users list': z.array(user),
  'webhook check-receiver': webhook.receiverCheck,
  'webhook events import': webhook.imported,
  'webhook events list': webhook.events,
  'webhook events drop': webhook.dropped,
  'webhook events replay': webhook.replayed,
  'webhook events show': webhook.event,
  'webhook listen': webhook.received,
  'webhook send': webhook.sent,
  'webhook sign': webhook.signature,
  'webhook verify': webhook.verified,
  worker: worker.logged,
}
