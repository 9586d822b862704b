import { UsageError } from '../errors/kinds.ts'
import { type Environment, variable } from '../host/env.ts'

/** The proxies of the environment, each absent as ''. */
export interface ProxySettings {
  httpProxy: string
  httpsProxy: string
  noProxy: string
}

/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in lower case first, as curl reads them. HTTP_PROXY serves where
 * HTTPS_PROXY is not set, as in Node itself. Throws UsageError for what is no address of a proxy.
 */
export function proxySettings(env: Environment): ProxySettings {
  const either = (name: string): string => variable(env, name.toLowerCase()) ?? variable(env, name) ?? ''
  return {
    httpProxy: proxyAddress('HTTP_PROXY', either('HTTP_PROXY')),
    httpsProxy: proxyAddress('HTTPS_PROXY', either('HTTPS_PROXY')),
    noProxy: either('NO_PROXY'),
  }
}

/** Origin and credentials alone; a bare HOST:PORT is an http proxy. The value may hold a password: it is never shown. */
function proxyAddress(name: string, value: string): string {
  if (value === '') return ''
  const text = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || !decodable(url.username + url.password)) {
    throw new UsageError(`${name} in the environment is not the address of an http or https proxy`, {
      hint: `Set it like this: ${name}=http://proxy.example.com:3128`,
    })
  }
  url.pathname = ''
  url.search = ''
  url.hash = ''
  return url.href
}

function decodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
