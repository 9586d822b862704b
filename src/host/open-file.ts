import { spawn } from 'node:child_process'

import { type Environment, variable } from './env.ts'

/** How a platform shows a file: the program, and the arguments before the path. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  freebsd: ['xdg-open'],
  openbsd: ['xdg-open'],
  win32: ['explorer.exe'],
}

/**
 * Shows a file or folder (absolute) with the desktop's own program, which no shell stands before.
 * Answers why it could not; it does not wait for the program to end. `childEnv`: what the program gets.
 */
export async function openFile(
  path: string,
  { env, childEnv }: { env: Environment; childEnv: Readonly<Record<string, string | undefined>> },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const [program, ...before] = openers[platform] ?? []
  if (program === undefined) return `no program to open files is known for ${platform}`
  if (variable(env, 'CI') !== undefined) return 'this is a CI job without a screen'
  const isX = program === 'xdg-open'
  if (isX && variable(env, 'DISPLAY') === undefined && variable(env, 'WAYLAND_DISPLAY') === undefined) {
    return 'this machine has no desktop'
  }
  const child = spawn(program, [...before, path], {
    env: { ...childEnv },
    detached: true,
    stdio: 'ignore',
  })
  return new Promise((resolve) => {
    child.once('error', () => resolve(`"${program}" could not be started`))
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
  })
}
