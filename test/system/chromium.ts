import { existsSync } from 'node:fs'

import { type Browser, chromium } from 'playwright-core'

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Starts the machine's Chromium without its background network calls. */
export async function openChromium(): Promise<Browser> {
  const executablePath = paths.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error('there is no Chromium: apt-get install chromium')
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
