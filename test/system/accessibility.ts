import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the violations that axe finds in a page, each with its rule and element. */
export async function findViolations(page: Page): Promise<string[]> {
  // Runs axe as a debugger does, because the content security policy of the page does not apply to debuggers.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe: loadedAxe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    return (await loadedAxe.run()).violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    )
  })
}
