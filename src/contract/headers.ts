/** Header names of the service ("Authentication", "Events"). */
export const apiKeyHeader = 'X-Service-API-Key'
export const userEmailHeader = 'X-Service-User-Email'
export const signatureHeader = 'X-Service-Signature'

/** "API keys are 32-character opaque values" ("Authentication", rule 6). */
export const apiKeyLength = 32

/** "Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response". */
export const cacheHeaders = { 'Cache-Control': 'no-store', Pragma: 'no-cache', Expires: '0' } as const
