import { z } from 'zod'

import type { Api } from './api.ts'
import { ApiClient, type ApiClientOptions } from './client.ts'

// To compile a parser for every shape takes longer than to check the few answers that a run reads.
z.config({ jitless: true })

/** The real service at a base URL. An endpoint, with the shapes of its answer, is loaded when it is called. */
export function connectApi(options: ApiClientOptions): Api {
  const client = new ApiClient(options)
  return {
    baseUrl: options.baseUrl,
    userEmail: options.credentials?.userEmail ?? '',
    clockDifferenceMs: () => client.clockDifferenceMs,
    ping: async (signal) => (await import('./endpoints/ping.ts')).ping(client, signal),
    listPackages: async (filter = {}, signal) =>
      (await import('./endpoints/packages.ts')).listPackages(client, filter, signal),
    packageSchema: async (packageId, signal) =>
      (await import('./endpoints/schemas.ts')).packageSchema(client, packageId, signal),
    createRequest: async (body, signal) =>
      (await import('./endpoints/requests.ts')).createRequest(client, body, signal),
    getRequest: async (requestId, signal) =>
      (await import('./endpoints/requests.ts')).getRequest(client, requestId, signal),
    listUsers: async (signal) => (await import('./endpoints/users.ts')).listUsers(client, signal),
    getAny: async (path, signal) => (await import('./endpoints/any.ts')).getAny(client, path, signal),
    openReport: async (address, signal) =>
      (await import('./endpoints/reports.ts')).openReport(client, address, signal),
    openSignedReport: async (url, signal) =>
      (await import('./endpoints/reports.ts')).openSignedReport(client, url, signal),
  }
}
