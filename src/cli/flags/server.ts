import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import type { Context } from '../../app/context.ts'
import { IoError, UsageError } from '../../errors/kinds.ts'
import { Flags } from '../oclif.ts'

/** Flags of every command that can listen with https. */
export const tlsFlags = {
  'tls-cert': Flags.string({ summary: 'TLS certificate (PEM)', helpValue: 'FILE', dependsOn: ['tls-key'] }),
  'tls-key': Flags.string({
    summary: 'Private key of the TLS certificate (PEM)',
    helpValue: 'FILE',
    dependsOn: ['tls-cert'],
  }),
}

/** Reads the files of `tlsFlags` and returns their PEM text; undefined without the flags. */
export async function readTlsFiles(
  { cwd }: Pick<Context, 'cwd'>,
  flags: { 'tls-cert': string | undefined; 'tls-key': string | undefined },
): Promise<{ cert: string; key: string } | undefined> {
  const { 'tls-cert': certFile, 'tls-key': keyFile } = flags
  if (certFile === undefined || keyFile === undefined) return undefined
  // The files are read one after the other, so that an error names the first one that is missing.
  const cert = await readPem(resolve(cwd, certFile), certFile)
  return { cert, key: await readPem(resolve(cwd, keyFile), keyFile) }
}

/**
 * Reads a PEM file with certificates and returns its text; undefined without a file. `flag` is the name of
 * the flag in messages.
 */
export async function readAuthority(
  { cwd }: Pick<Context, 'cwd'>,
  file: string | undefined,
  flag: string,
): Promise<string | undefined> {
  if (file === undefined) return undefined
  const text = await readPem(resolve(cwd, file), file)
  try {
    void new X509Certificate(text)
  } catch (cause) {
    throw new UsageError(`${flag}: ${file} holds no certificate`, {
      hint: 'Give a PEM file with the certificate of the authority, or the self-signed one itself.',
      cause,
    })
  }
  return text
}

async function readPem(path: string, typedPath: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UsageError(`file not found: ${typedPath}`, { hint: 'Check the path.' })
    }
    throw new IoError(`${typedPath} cannot be read`, {
      hint: 'Give the name of a PEM file that you can read.',
      cause,
    })
  }
}

/** Flags for the addresses at which a sandbox is reached. */
export const reachFlags = {
  host: Flags.string({ summary: 'Address to listen on (default 127.0.0.1)', helpValue: 'HOST' }),
  'allow-http-from': Flags.string({
    summary: 'Network that may call it by http, such as 172.16.0.0/12; repeatable',
    helpValue: 'CIDR',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'public-url': Flags.string({
    summary: 'Base URL of a proxy in front of it, for report URLs',
    helpValue: 'URL',
  }),
}

/** Flags of commands that control a running sandbox. */
export const sandboxFlags = {
  'base-url': Flags.string({
    summary: 'Base URL of the sandbox (default: the one in use)',
    helpValue: 'URL',
  }),
}
