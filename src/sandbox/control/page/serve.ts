import type { Sandbox } from '../sandbox.ts'
import { page } from './page.ts'
import { script } from './script.ts'
import { style } from './style.ts'

/** Nothing but what this server sends runs on the page, and no other site can frame it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** The page itself. */
export async function servePage(sandbox: Sandbox): Promise<Response> {
  return new Response(String(await page(sandbox)), {
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' },
  })
}

/** Its style and script; undefined for any other path. */
export function serveAsset(path: string): Response | undefined {
  if (path.endsWith('/page.css')) return asset(style, 'text/css')
  return path.endsWith('/page.js') ? asset(script, 'text/javascript') : undefined
}

function asset(text: string, type: string): Response {
  return new Response(text, { headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` } })
}
