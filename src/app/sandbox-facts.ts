/** What a tester can ask a sandbox for. */
export async function sandboxScenarios() {
  return (await import('../sandbox/service/scenarios.ts')).scenarioTable
}

/** What a sandbox can be asked to play. */
export async function sandboxStories() {
  return (await import('../sandbox/service/stories.ts')).storyTable
}

/** What the document leaves open, as a sandbox does it unless told otherwise. */
export async function usualSandboxRules() {
  const { ruleSettings, usualRules } = await import('../sandbox/service/rules.ts')
  return ruleSettings(usualRules())
}

/** The service as OpenAPI 3.1; `control`: with what steers a running sandbox. */
export async function openApiDocument(baseUrl: string, control: boolean) {
  return control
    ? (await import('../sandbox/control/openapi.ts')).sandboxOpenApi(baseUrl)
    : (await import('../contract/openapi.ts')).openApi(baseUrl)
}
