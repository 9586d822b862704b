import type { App } from './app.ts'
import type { Batch } from '../domain/batch/batch.ts'
import type { Overview } from '../domain/overview/overview.ts'
import type { SubmissionState } from '../domain/submission/states.ts'
import type { OverviewScope } from '../usecases/overview/read.ts'
import type { People } from '../usecases/overview/people.ts'

/** A batch as a page, whole in one file. What makes pages is loaded for them alone. */
export async function batchPage(
  app: App,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<Uint8Array> {
  const { peopleOfBatch } = await import('../usecases/overview/people.ts')
  const services = await app.services('ledger', 'batches', 'inboxToShow', 'clock')
  const people = await peopleOfBatch(services, batch, states)
  return page(app, people, {
    title: batch.name,
    readAt: new Date(services.clock.now()).toISOString(),
    facts: [
      ['Batch', batch.id.slice(0, 8)],
      ['Service', new URL(batch.baseUrl).host],
      ['Ordered as', batch.userEmail],
    ],
  })
}

/** Every order of an organisation as a page, whole in one file. */
export async function storePage(app: App, overview: Overview, scope: OverviewScope): Promise<Uint8Array> {
  const { peopleOfStore } = await import('../usecases/overview/people.ts')
  const people = await peopleOfStore(await app.services('ledger', 'batches'), scope, overview.attention)
  const services = [...new Set(people.users.map(({ baseUrl }) => new URL(baseUrl).host))]
  const users = [...new Set(people.users.map(({ userEmail }) => userEmail))]
  return page(app, people, {
    title:
      overview.other_orders.length === 0
        ? 'All checks ordered with this store'
        : 'All checks of this organisation ordered with this store',
    readAt: overview.read_at,
    facts: [
      [services.length === 1 ? 'Service' : 'Services', services.join(', ') || 'none yet'],
      ['Ordered as', users.join(', ') || 'nobody yet'],
    ],
  })
}

interface About {
  title: string
  readAt: string
  facts: (readonly [string, string])[]
}

async function page(
  app: App,
  { people, total, persons, attention, users }: People,
  about: About,
): Promise<Uint8Array> {
  const { peoplePage, packageText } = await import('../output/views/people-page.ts')
  const packages = await (await app.services('packageNames')).packageNames.forUsers(users)
  const ofPackages = people.filter(({ package_id: id }) => id !== null)
  const [first] = ofPackages
  const isMixed = ofPackages.some(
    ({ package_id: id, user }) => id !== first?.package_id || user.baseUrl !== first.user.baseUrl,
  )
  const ofPackage = first === undefined || isMixed ? [] : [['Package', packageText(first, packages)] as const]
  const text = await peoplePage({
    ...about,
    facts: [...ofPackage, ...about.facts],
    people,
    total,
    persons,
    attention,
    packages,
    isMixed,
    version: app.options.version,
    keep: app.keep,
  })
  return new TextEncoder().encode(app.secrets.redact(text))
}
