import { execFileSync } from 'node:child_process'

import { expect, test } from 'vitest'

const sourceUrl = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href

test('on Linux without a Secret Service there is no keychain: the keyring of the kernel is not used', () => {
  const script = `
    import { canUseKeychain, systemKeychain } from ${JSON.stringify(sourceUrl('store/config/keychain.ts'))}
    import { systemRandom } from ${JSON.stringify(sourceUrl('host/random.ts'))}
    const keychain = await systemKeychain()
    process.stdout.write(String(keychain !== undefined && (await canUseKeychain(keychain, systemRandom))))`
  const env = { ...process.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' }
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
  })
  expect(output).toBe('false')
})
