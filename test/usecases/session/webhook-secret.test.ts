import { expect, test } from 'vitest'

import {
  forgetWebhookSecret,
  keepWebhookSecret,
  resolveWebhookSecret,
} from '../../../src/usecases/session/webhook-secret.ts'
import { openHome, key, untouchable } from './setup.ts'

const env = { REFCHECK_WEBHOOK_SECRET: 'from-env\n' }
const work = 'https://work.example.com'

test('the environment’s overrides the profile’s, and no file is touched for it', async () => {
  expect(await resolveWebhookSecret({ env, ...untouchable })).toEqual({
    secret: 'from-env',
    from: 'environment',
  })
})

test('kept with the current profile, beside its key, it is found again', async () => {
  using kept = openHome()
  await kept.add('work', work, key)
  expect(await keepWebhookSecret({ env: {}, ...kept, secret: 'hush\n' })).toEqual({
    profile: 'work',
    storage: 'file',
  })
  expect(await resolveWebhookSecret({ env: {}, ...kept })).toEqual({ secret: 'hush', from: 'file' })
  expect((await kept.secrets.read('work', 'api-key'))?.value).toBe(key)
})

test('--profile names the profile whose secret counts; one without takes the environment’s', async () => {
  using kept = openHome()
  await kept.add('home', work, key)
  await kept.add('work', work, key)
  await keepWebhookSecret({ profile: 'home', env: {}, ...kept, secret: 'hush' })
  expect(await resolveWebhookSecret({ profile: 'home', env, ...kept })).toEqual({
    secret: 'hush',
    from: 'file',
  })
  expect(await resolveWebhookSecret({ profile: 'work', env, ...kept })).toMatchObject({ from: 'environment' })
  await expect(resolveWebhookSecret({ profile: 'nobody', env, ...kept })).rejects.toMatchObject({
    code: 'usage',
  })
})

test.each(['', '\n'])('an empty REFCHECK_WEBHOOK_SECRET (%j) is an error, not an absence', async (text) => {
  using kept = openHome()
  await kept.add('work', work, key)
  await keepWebhookSecret({ env: {}, ...kept, secret: 'hush' })
  await expect(
    resolveWebhookSecret({ env: { REFCHECK_WEBHOOK_SECRET: text }, ...kept }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'REFCHECK_WEBHOOK_SECRET is empty',
  })
})

test('none anywhere: how to give one', async () => {
  using kept = openHome()
  const none = {
    code: 'usage',
    message: 'the webhook secret is missing',
    hint: 'Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret',
  }
  await expect(resolveWebhookSecret({ env: {}, ...kept })).rejects.toMatchObject(none)
  await kept.add('work', work, key)
  await expect(resolveWebhookSecret({ env: {}, ...kept })).rejects.toMatchObject(none)
})

test('an empty one is not kept, and without a profile there is nowhere to', async () => {
  using kept = openHome()
  await expect(keepWebhookSecret({ env: {}, ...kept, secret: 'hush' })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile to save the webhook secret in',
  })
  await kept.add('work', work, key)
  await expect(keepWebhookSecret({ env: {}, ...kept, secret: '' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  expect(await kept.secrets.storage('work', 'webhook-secret')).toBeUndefined()
})

test('forgotten, it is gone and the key is not', async () => {
  using kept = openHome()
  await kept.add('work', work, key)
  await keepWebhookSecret({ env: {}, ...kept, secret: 'hush' })
  const gone = { profile: 'work', removed: true, left_in_keychain: false }
  expect(await forgetWebhookSecret({ env: {}, ...kept })).toEqual(gone)
  expect(await forgetWebhookSecret({ env: {}, ...kept })).toEqual({ ...gone, removed: false })
  expect((await kept.secrets.read('work', 'api-key'))?.value).toBe(key)
})
