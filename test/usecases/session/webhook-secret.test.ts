import { expect, test } from 'vitest'

import {
  removeWebhookSecret,
  saveWebhookSecret,
  resolveWebhookSecret,
} from '../../../src/usecases/session/webhook-secret.ts'
import { openHome, key, untouchable } from './setup.ts'

const env = { REFCHECK_WEBHOOK_SECRET: 'from-env\n' }
const work = 'https://work.example.com'

test('a secret in the environment overrides that of the profile, and no file is read', async () => {
  expect(await resolveWebhookSecret({ env, ...untouchable })).toEqual({
    secret: 'from-env',
    from: 'environment',
  })
})

test('a secret is stored with the current profile and found again', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  expect(await saveWebhookSecret({ env: {}, ...opened, secret: 'hush\n' })).toEqual({
    profile: 'work',
    storage: 'file',
  })
  expect(await resolveWebhookSecret({ env: {}, ...opened })).toEqual({ secret: 'hush', from: 'file' })
  expect((await opened.secrets.read('work', 'api-key'))?.value).toBe(key)
})

test('--profile determines the secret; a profile without one uses that of the environment', async () => {
  using opened = openHome()
  await opened.add('home', work, key)
  await opened.add('work', work, key)
  await saveWebhookSecret({ profile: 'home', env: {}, ...opened, secret: 'hush' })
  expect(await resolveWebhookSecret({ profile: 'home', env, ...opened })).toEqual({
    secret: 'hush',
    from: 'file',
  })
  expect(await resolveWebhookSecret({ profile: 'work', env, ...opened })).toMatchObject({
    from: 'environment',
  })
  await expect(resolveWebhookSecret({ profile: 'nobody', env, ...opened })).rejects.toMatchObject({
    code: 'usage',
  })
})

test.each(['', '\n'])('an empty REFCHECK_WEBHOOK_SECRET (%j) is an error, not an absence', async (text) => {
  using opened = openHome()
  await opened.add('work', work, key)
  await saveWebhookSecret({ env: {}, ...opened, secret: 'hush' })
  await expect(
    resolveWebhookSecret({ env: { REFCHECK_WEBHOOK_SECRET: text }, ...opened }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'REFCHECK_WEBHOOK_SECRET is empty',
  })
})

test('the error for a missing secret says how to set one', async () => {
  using opened = openHome()
  const none = {
    code: 'usage',
    message: 'the webhook secret is missing',
    hint: 'Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret',
  }
  await expect(resolveWebhookSecret({ env: {}, ...opened })).rejects.toMatchObject(none)
  await opened.add('work', work, key)
  await expect(resolveWebhookSecret({ env: {}, ...opened })).rejects.toMatchObject(none)
})

test('an empty secret is refused, and so is saving one without a profile', async () => {
  using opened = openHome()
  await expect(saveWebhookSecret({ env: {}, ...opened, secret: 'hush' })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile to save the webhook secret in',
  })
  await opened.add('work', work, key)
  await expect(saveWebhookSecret({ env: {}, ...opened, secret: '' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  expect(await opened.secrets.storage('work', 'webhook-secret')).toBeUndefined()
})

test('removing the secret does not remove the key', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  await saveWebhookSecret({ env: {}, ...opened, secret: 'hush' })
  const gone = { profile: 'work', removed: true, left_in_keychain: false }
  expect(await removeWebhookSecret({ env: {}, ...opened })).toEqual(gone)
  expect(await removeWebhookSecret({ env: {}, ...opened })).toEqual({ ...gone, removed: false })
  expect((await opened.secrets.read('work', 'api-key'))?.value).toBe(key)
})
