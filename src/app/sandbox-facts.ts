/** What a tester can ask a sandbox for. */
export async function sandboxScenarios() {
  return (await import('../sandbox/service/scenarios.ts')).scenarioTable
}

/** What a sandbox can be asked to play. */
export async function sandboxStories() {
  return (await import('../sandbox/service/stories.ts')).storyTable
}

/** What the document leaves open, as a sandbox does it by default. */
export async function usualSandboxRules() {
  const { ruleSettings, usualRules } = await import('../sandbox/service/rules.ts')
  return ruleSettings(usualRules())
}

/** The service as OpenAPI; `control`: with what steers a running sandbox. */
export async function openApiDocument(baseUrl: string, version: '3.1' | '3.0', control: boolean) {
  const { openApi, toOpenApi30 } = await import('../contract/openapi.ts')
  const document = control
    ? (await import('../sandbox/control/openapi.ts')).sandboxOpenApi(baseUrl)
    : openApi(baseUrl)
  return version === '3.1' ? document : toOpenApi30(document)
}
