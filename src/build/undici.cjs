/*
 * Exports the parts of undici that src/http uses; each is loaded at first use. undici's index also loads fetch,
 * WebSocket, caches and HTTP/2, and with them TLS and web streams, which was half of the time of a read.
 */
Object.assign(require('undici/lib/dispatcher/dispatcher').prototype, require('undici/lib/api'))

module.exports = {
  get Agent() {
    return require('undici/lib/dispatcher/agent')
  },
  get Client() {
    return require('undici/lib/dispatcher/client')
  },
  get Dispatcher1Wrapper() {
    return require('undici/lib/dispatcher/dispatcher1-wrapper')
  },
  get EnvHttpProxyAgent() {
    return require('undici/lib/dispatcher/env-http-proxy-agent')
  },
  get Pool() {
    return require('undici/lib/dispatcher/pool')
  },
  errors: require('undici/lib/core/errors'),
}
