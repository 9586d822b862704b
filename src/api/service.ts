import type { Api } from './api.ts'
import { ApiClient, type ApiClientOptions } from './client.ts'
import { listPackages, packageSchema } from './endpoints/packages.ts'
import { ping } from './endpoints/ping.ts'
import { openReport, openSignedReport } from './endpoints/reports.ts'
import { createRequest, getRequest } from './endpoints/requests.ts'
import { listUsers } from './endpoints/users.ts'

/** The real service at a base URL. */
export function connectApi(options: ApiClientOptions): Api {
  const client = new ApiClient(options)
  return {
    baseUrl: options.baseUrl,
    userEmail: options.credentials?.userEmail ?? '',
    ping: (signal) => ping(client, signal),
    listPackages: (filter = {}, signal) => listPackages(client, filter, signal),
    packageSchema: (packageId, signal) => packageSchema(client, packageId, signal),
    createRequest: (body, signal) => createRequest(client, body, signal),
    getRequest: (requestId, signal) => getRequest(client, requestId, signal),
    listUsers: (signal) => listUsers(client, signal),
    openReport: (address, signal) => openReport(client, address, signal),
    openSignedReport: (url, signal) => openSignedReport(client, url, signal),
  }
}
