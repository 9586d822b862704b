import { expect, test } from 'vitest'

import {
  removeWebhookSecret,
  saveWebhookSecret,
  resolveWebhookSecret,
} from '../../../src/usecases/session/webhook-secret.ts'
import { openHome, key, untouchable } from './setup.ts'

const env = { REFCHECK_WEBHOOK_SECRET: 'from-env\n' }
const workUrl = 'https://work.example.com'

test('a secret in the environment overrides that of the profile, and no file is read', async () => {
  expect(await resolveWebhookSecret({ env, ...untouchable })).toEqual({
    secret: 'from-env',
    from: 'environment',
  })
})

test('a secret is stored with the current profile and found again', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  expect(await saveWebhookSecret({ env: {}, ...openedHome, secret: 'hush\n' })).toEqual({
    profile: 'work',
    storage: 'file',
  })
  expect(await resolveWebhookSecret({ env: {}, ...openedHome })).toEqual({ secret: 'hush', from: 'file' })
  expect((await openedHome.secrets.read('work', 'api-key'))?.value).toBe(key)
})

test('--profile determines the secret; a profile without one uses that of the environment', async () => {
  using openedHome = openHome()
  await openedHome.add('home', workUrl, key)
  await openedHome.add('work', workUrl, key)
  await saveWebhookSecret({ profile: 'home', env: {}, ...openedHome, secret: 'hush' })
  expect(await resolveWebhookSecret({ profile: 'home', env, ...openedHome })).toEqual({
    secret: 'hush',
    from: 'file',
  })
  expect(await resolveWebhookSecret({ profile: 'work', env, ...openedHome })).toMatchObject({
    from: 'environment',
  })
  await expect(resolveWebhookSecret({ profile: 'nobody', env, ...openedHome })).rejects.toMatchObject({
    code: 'usage',
  })
})

test.each(['', '\n'])('an empty REFCHECK_WEBHOOK_SECRET (%j) is an error, not an absence', async (text) => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  await saveWebhookSecret({ env: {}, ...openedHome, secret: 'hush' })
  await expect(
    resolveWebhookSecret({ env: { REFCHECK_WEBHOOK_SECRET: text }, ...openedHome }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'REFCHECK_WEBHOOK_SECRET is empty',
  })
})

test('the error for a missing secret says how to set one', async () => {
  using openedHome = openHome()
  const missingSecretError = {
    code: 'usage',
    message: 'the webhook secret is missing',
    hint: 'Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret',
  }
  await expect(resolveWebhookSecret({ env: {}, ...openedHome })).rejects.toMatchObject(missingSecretError)
  await openedHome.add('work', workUrl, key)
  await expect(resolveWebhookSecret({ env: {}, ...openedHome })).rejects.toMatchObject(missingSecretError)
})

test('an empty secret is refused, and so is saving one without a profile', async () => {
  using openedHome = openHome()
  await expect(saveWebhookSecret({ env: {}, ...openedHome, secret: 'hush' })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile to save the webhook secret in',
  })
  await openedHome.add('work', workUrl, key)
  await expect(saveWebhookSecret({ env: {}, ...openedHome, secret: '' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  expect(await openedHome.secrets.storage('work', 'webhook-secret')).toBeUndefined()
})

test('removing the secret does not remove the key', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  await saveWebhookSecret({ env: {}, ...openedHome, secret: 'hush' })
  const removal = { profile: 'work', removed: true, left_in_keychain: false }
  expect(await removeWebhookSecret({ env: {}, ...openedHome })).toEqual(removal)
  expect(await removeWebhookSecret({ env: {}, ...openedHome })).toEqual({ ...removal, removed: false })
  expect((await openedHome.secrets.read('work', 'api-key'))?.value).toBe(key)
})
