import { InvalidInputError } from '../../errors/kinds.ts'
import type { SeededRandom } from '../service/seeded-random.ts'
import type { Organisation, PackageRecord } from '../service/state.ts'
import type { Service } from '../service/service.ts'
import type { Switch } from '../service/rules.ts'

/** Who the sandbox's caller is: the organisation whose key it gives out. */
export interface HomeOrganisation {
  organisationId: string
  apiKey: string
  userEmail: string
}

/** What an owner, or the operator of the service, could do to an organisation. */
export class Switches {
  readonly #service: Service
  readonly #rng: SeededRandom
  readonly #home: () => HomeOrganisation

  constructor(service: Service, rng: SeededRandom, home: () => HomeOrganisation) {
    this.#service = service
    this.#rng = rng
    this.#home = home
  }

  throw(name: Switch): void {
    switch (name) {
      case 'revoke-key':
        return this.revokeKey()
      case 'deactivate-user':
        return this.setUserActive(this.#home().userEmail, false)
      case 'no-credits':
        return this.change({ credits: 0 })
      case 'expire-trial':
        return this.change({ trial: 'expired' })
      case 'deactivate-subscription':
        return this.change({ subscription: 'inactive' })
      case 'replace-package':
        this.replacePackage(this.#firstActive())
    }
  }

  revokeKey(): void {
    const { apiKey: key, organisationId } = this.#home()
    this.#service.commit({ does: 'key', key: { key, organisation_id: organisationId, revoked: true } })
  }

  /** "generating a new key revokes the previous one"; the new key. */
  renewKey(): string {
    this.revokeKey()
    const { organisationId } = this.#home()
    const key = this.#rng.text(32, 'api key', organisationId, this.#service.state.keys.size)
    this.#service.commit({ does: 'key', key: { key, organisation_id: organisationId, revoked: false } })
    return key
  }

  setUserActive(email: string, active: boolean): void {
    const user = this.#service.state.users.get(this.#home().organisationId)?.get(email.toLowerCase())
    if (user === undefined) throw new InvalidInputError(`the sandbox has no user "${email}"`)
    this.#service.commit({ does: 'user', user: { ...user, active } })
  }

  change(part: Partial<Organisation>): void {
    const organisation = this.#service.state.organisations.get(this.#home().organisationId)
    if (organisation === undefined) return
    this.#service.commit({ does: 'organisation', organisation: { ...organisation, ...part } })
  }

  /**
   * "a new required field creates a new package version with a new `id`": the old one becomes
   * INACTIVE, its schema stays as it was. The id of the successor.
   */
  replacePackage(id: number, { newField = true }: { newField?: boolean | undefined } = {}): number {
    const packages = this.#packages()
    const old = packages.get(id)
    if (old === undefined) throw new InvalidInputError(`the sandbox has no package ${id}`)
    const successor: PackageRecord = {
      ...structuredClone(old),
      id: Math.max(...packages.keys()) + 1,
      additional_information: newField ? withNewField(old) : old.additional_information,
    }
    this.#service.commit({ does: 'package', package: { ...old, status: 'INACTIVE' } })
    this.#service.commit({ does: 'package', package: successor })
    return successor.id
  }

  #firstActive(): number {
    const active = [...this.#packages().values()].find(({ status }) => status === 'ACTIVE')
    if (active === undefined) throw new InvalidInputError('the sandbox has no ACTIVE package')
    return active.id
  }

  #packages(): ReadonlyMap<number, PackageRecord> {
    return this.#service.state.packages.get(this.#home().organisationId) ?? new Map<number, PackageRecord>()
  }
}

const newField = { type: 'string', required: true, description: 'How the recipient agreed to the check.' }

function withNewField(pack: PackageRecord): PackageRecord['additional_information'] {
  const [first, ...rest] = structuredClone(pack.additional_information)
  if (first === undefined) {
    return [{ display_name: 'Consent', code: 'consent', fields: { consent_method: newField } }]
  }
  return [{ ...first, fields: { ...first.fields, consent_method: newField } }, ...rest]
}
