/** Below this the sandbox itself is controlled; no part of the service. */
export const controlPath = '/_sandbox/'
