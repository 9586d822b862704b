import agents from './pages/agents.ts'
import batches from './pages/batches.ts'
import environment from './pages/environment.ts'
import exitCodes from './pages/exit-codes.ts'
import files from './pages/files.ts'
import fleet from './pages/fleet.ts'
import orders from './pages/orders.ts'
import privacy from './pages/privacy.ts'
import reports from './pages/reports.ts'
import safety from './pages/safety.ts'
import sandbox from './pages/sandbox.ts'
import scripts from './pages/scripts.ts'
import webhooks from './pages/webhooks.ts'

const pages = new Map(
  Object.entries({
    orders,
    batches,
    files,
    safety,
    reports,
    webhooks,
    fleet,
    sandbox,
    agents,
    scripts,
    'exit-codes': exitCodes,
    environment,
    privacy,
  }),
)

/** Names of the pages that `refcheck help PAGE` shows. */
export const pageNames: readonly string[] = [...pages.keys()]

/** Returns the page with this name; undefined if there is none. */
export function topicPage(name: string): string | undefined {
  return pages.get(name)
}
