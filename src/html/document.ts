import { createHash } from 'node:crypto'

import { html, raw } from 'hono/html'

import { sanitize } from '../host/text.ts'
import { pico } from './pico.ts'
import { rules } from './rules.ts'

/** A piece of a page; every value in it is escaped by `html`. */
export type Piece = ReturnType<typeof html>

/** All that pages wear. */
export const stylesheet = `${pico.replace(/^@charset [^;]*;/, '')}\n${rules}`

export interface Page {
  title: string
  body: Piece
  /** Runs on the page, and nothing else does. */
  script: string
}

/**
 * A page that needs nothing else and asks for nothing: no address is reached from it, and only the script that came
 * with it runs.
 */
export async function standalonePage({ title, body, script }: Page): Promise<string> {
  const policy = [
    "default-src 'none'",
    `style-src '${digest(stylesheet)}'`,
    `script-src '${digest(script)}'`,
    // Pico's own marks, which are within the stylesheet.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${sanitize(title)}</title>
        ${raw(`<style>${stylesheet}</style>`)}
      </head>
      <body>
        ${body} ${raw(`<script>${script}</script>`)}
      </body>
    </html> `
  return String(await page)
}

const digest = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
