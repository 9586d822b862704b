import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with a page, by rule and place. */
export async function violations(page: Page): Promise<string[]> {
  // As a debugger runs it, which no policy of the page keeps from it.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe: found } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    return (await found.run()).violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    )
  })
}
