/** What a tester can ask a sandbox for. */
export async function sandboxScenarios() {
  return (await import('../sandbox/service/scenarios.ts')).scenarioTable
}

/** What the document leaves open, as a sandbox does it unless told otherwise. */
export async function usualSandboxRules() {
  const { ruleSettings, usualRules } = await import('../sandbox/service/rules.ts')
  return ruleSettings(usualRules())
}

/** The service as OpenAPI 3.1. */
export async function openApiDocument(baseUrl: string) {
  return (await import('../contract/openapi.ts')).openApi(baseUrl)
}
