import { UsageError } from '../../errors/kinds.ts'
import type { RunningSandbox } from '../../sandbox/control/client.ts'

interface Setting {
  /** What the value may be, as it is printed. */
  values: readonly string[]
  /** The control that sets it, and its order; undefined for an invalid value. */
  order: (value: string) => [control: string, order: object] | undefined
}

const oneOf = (control: string, name: string, values: readonly string[]): Setting => ({
  values,
  order: (value) => (values.includes(value) ? [control, { [name]: value }] : undefined),
})

const user = (active: boolean): Setting => ({
  values: ['the e-mail of a user'],
  order: (email) => (email.includes('@') ? ['user', { email, active }] : undefined),
})

const settings: Readonly<Record<string, Setting>> = {
  'webhook-url': {
    values: ['a URL', 'none'],
    order: (value) => ['webhook', { url: value === 'none' ? null : value }],
  },
  credits: {
    values: ['a number', 'unlimited'],
    order(value) {
      if (value === 'unlimited') return ['credits', { credits: null }]
      return /^\d{1,9}$/.test(value) ? ['credits', { credits: Number(value) }] : undefined
    },
  },
  trial: oneOf('plan', 'trial', ['none', 'running', 'expired']),
  subscription: oneOf('plan', 'subscription', ['active', 'inactive']),
  'active-user': user(true),
  'inactive-user': user(false),
}

/** What `sandbox set` takes, a line each: the name and its values. */
const settingNames: readonly string[] = Object.keys(settings)

/** Changes one setting of a running sandbox. Throws UsageError where there is no such setting or value. */
export async function setInSandbox(
  sandbox: Pick<RunningSandbox, 'send'>,
  name: string,
  value: string,
): Promise<void> {
  const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (setting === undefined) {
    throw new UsageError(`no setting named "${name.slice(0, 60)}"`, {
      hint: `Settings: ${settingNames.join(', ')}`,
    })
  }
  const order = setting.order(value)
  if (order === undefined) {
    throw new UsageError(`${name} cannot be set to "${value.slice(0, 60)}"`, {
      hint: `Give ${setting.values.join(', ').replace(/, (?=[^,]+$)/, ' or ')}.`,
    })
  }
  await sandbox.send(...order)
}
