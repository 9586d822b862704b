import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import { type App, openHttp } from './app.ts'
import { checkWebhookSecret } from '../domain/session/session.ts'
import type { OtherSecret } from '../domain/webhook/diagnose.ts'
import { runProgram, type StartedProgram, startProgram } from '../host/run-program.ts'
import { hasFileModes } from '../host/machine.ts'
import { listOtherSecrets, type WebhookSecret } from '../usecases/session/webhook-secret.ts'
import type { DeliverTargets, ListenServices } from '../usecases/webhook/listen.ts'
import { readInput } from './input.ts'
import { diskFailure, systemErrorCode } from '../disk/failure.ts'
import { splitCommandLine } from '../domain/wording/pasted-command.ts'
import { parseStoredLines, parseStoredList } from '../domain/webhook/receiver-check.ts'
import { type ReceiverEvent } from '../domain/webhook/receiver-check.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { UnavailableError, UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'

const groupAndOthersMode = 0o077
const execTimeoutMs = 60_000

export interface WebhookSecrets {
  secret: string
  /** Returns the base URL of the service that signs with the secret; undefined if it is unknown. */
  findBaseUrl: () => Promise<string | undefined>
  /** Returns all other stored secrets. They are read at the first call. */
  readOtherSecrets: () => Promise<readonly OtherSecret[]>
}

async function findConfiguredSecret(app: App): Promise<WebhookSecret> {
  const { resolveWebhookSecret } = await import('../usecases/session/webhook-secret.ts')
  return resolveWebhookSecret(await app.sessionSources())
}

/**
 * Returns the secret of `--secret-file`, or else that of the environment or the profile. Throws a UsageError if there
 * is none.
 */
export async function webhookSecrets(app: App, file: string | undefined): Promise<WebhookSecrets> {
  // The service of a secret from a file is found like that of a secret from the environment.
  const { secret, from } =
    file === undefined
      ? await findConfiguredSecret(app)
      : { secret: await readSecretFile(app, file), from: 'environment' as const }
  let otherSecrets: Promise<readonly OtherSecret[]> | undefined
  return {
    secret,
    async findBaseUrl() {
      // Loaded only here: verifying and signing do not need a session.
      const { findSigningService } = await import('../usecases/session/resolve.ts')
      return findSigningService(await app.sessionSources(), from)
    },
    readOtherSecrets: () =>
      (otherSecrets ??= app.sessionSources().then((sources) => listOtherSecrets(sources, secret))),
  }
}

async function readSecretFile({ context, reporter, secrets }: App, file: string): Promise<string> {
  const bytes = await readInput(context, file, 'the webhook secret')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  if (file !== '-') {
    const status = await stat(resolve(context.cwd, file))
    if (hasFileModes() && status.isFile() && (status.mode & groupAndOthersMode) !== 0) {
      reporter.warn(`other users of this machine can read ${file}. Make it private with: chmod 600 ${file}`)
    }
  }
  const secret = checkWebhookSecret(text, `the secret in ${file}`)
  secrets.add('webhook secret', secret)
  return secret
}

/**
 * Returns the services for receiving and forwarding events. `exec`: the words of a program that is run for each
 * event.
 */
export async function createListenServices(
  app: App,
  {
    forwardTo,
    forwardCa,
    exec,
    secret,
  }: {
    forwardTo: string | undefined
    /** A certificate (PEM) that is trusted for `forwardTo`. */
    forwardCa: string | undefined
    exec: readonly string[] | undefined
    secret: string
  },
): Promise<ListenServices> {
  const [{ serveSmallRequests }, { createDelivery }] = await Promise.all([
    import('../server/small-requests.ts'),
    import('../usecases/webhook/listen.ts'),
  ])
  const { clock } = app.context
  const inbox = await app.service('inbox')
  const receiver =
    forwardTo === undefined ? undefined : await openReceiver(app, forwardTo, '--forward-to', forwardCa)
  const env = exec === undefined ? {} : await app.childEnvironment()
  const targets: DeliverTargets = {
    urlTarget: receiver && { ...receiver, clock, secret },
    program: exec && ((event) => runProgram(exec, { env, input: event.body, timeoutMs: execTimeoutMs })),
  }
  const hasTarget = receiver !== undefined || exec !== undefined
  return {
    inbox,
    clock,
    serve: serveSmallRequests,
    deliver: hasTarget ? createDelivery(targets) : undefined,
  }
}

/**
 * Returns the HTTP client and URL for a receiver: an https URL, or an http URL of this machine. Throws a UsageError
 * for any other, without repeating a text that may be a secret. `source`: the flag or argument; `authority`: a
 * certificate (PEM) that is trusted for the receiver.
 */
export async function openReceiver(
  app: App,
  text: string,
  source: string,
  authority?: string,
): Promise<{ http: HttpClient; url: string }> {
  if (!URL.canParse(text)) {
    throw new UsageError(`${source}: "${redactArgument(text)}" is not a URL`, {
      hint: 'A URL looks like https://staging.example.com/hook',
    })
  }
  const { secureUrl } = await import('../http/transport.ts')
  const { href } = secureUrl(text, source)
  return {
    http: authority === undefined ? await app.service('http') : await openHttp(app, authority),
    url: href,
  }
}

/**
 * Maximum size of the events that the receiver stored (the answer of --stored-url, or --stored-file). It is thousands
 * of times the size of the events that a check sends.
 */
const maxStoredEventsBytes = 16 * 1024 * 1024
const storedUrlTimeoutMs = 10_000

type StoredEventsReader = (signal: AbortSignal | undefined) => Promise<readonly ReceiverEvent[]>

/**
 * Returns a function that reads the receiver's stored events from --stored-url. Redirects are not followed; every
 * failure is an UnavailableError.
 */
export async function createStoredUrlReader(app: App, text: string): Promise<StoredEventsReader> {
  const { http, url } = await openReceiver(app, text, '--stored-url')
  const limits = {
    connectMs: storedUrlTimeoutMs,
    idleMs: storedUrlTimeoutMs,
    totalMs: storedUrlTimeoutMs,
    maxBytes: maxStoredEventsBytes,
  }
  return async (signal) => {
    const read = () =>
      http.send({ method: 'GET', url, headers: { accept: 'application/json' }, limits, signal })
    // A restart of the receiver may have closed a kept-alive connection, so a failed read is repeated once.
    const { status, body } = await read()
      .catch(read)
      .catch((error: unknown) => {
        if (!(error instanceof UnavailableError)) throw error
        throw new UnavailableError(`--stored-url: ${error.message}`, {
          hint: 'Check the URL, and that the receiver is running.',
        })
      })
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400
      throw new UnavailableError(`--stored-url: answered ${status}; expected 200 and a JSON list`, {
        hint: isRedirect ? 'Redirects are not followed: give the URL that answers.' : 'Check the URL.',
      })
    }
    return parseStoredList(body)
  }
}

/** Returns a function that reads the stored events from the lines of --stored-file, which has to be a plain file. */
export function createStoredFileReader({ context }: App, file: string): StoredEventsReader {
  return async () => {
    const path = resolve(context.cwd, file)
    const status = await stat(path).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'ENOENT') throw diskFailure('read', path, error)
      throw new UsageError(`--stored-file: file not found: ${file}`, {
        hint: 'Check the path. Where the receiver makes the file with its first event, make it empty before.',
      })
    })
    if (!status.isFile()) {
      throw new UsageError(`--stored-file: ${file} is not a file`, {
        hint: 'Give the file to which the receiver adds a line for each event that it stores.',
      })
    }
    return parseStoredLines(await readInput(context, path, '--stored-file', maxStoredEventsBytes))
  }
}

/**
 * Returns a function that starts the receiver with the command of --restart, without a shell. The environment of the
 * receiver contains the variables whose value is `secret`, which it needs to verify signatures, but no keys and no
 * other secrets.
 */
export async function createReceiverStarter(
  app: App,
  command: string,
  secret: string,
): Promise<() => StartedProgram> {
  const words = splitCommandLine(command, '--restart')
  const secretVariables = Object.entries(app.context.env).filter(([, value]) => value === secret)
  const env = { ...(await app.childEnvironment()), ...Object.fromEntries(secretVariables) }
  return () => startProgram(words, env)
}
