import { isLoopback } from '../options/complete.js'
import type { Options } from '../options/table.js'
import { pageFiles } from '../routes/page.js'
import type { Check } from './gate.js'
import { Problem } from './problems.js'
import type { Tokens } from './tokens.js'

/** Asked by the platform and by people, who have no token, or come from a page of another site. Nothing is used up by them. */
const open: ReadonlySet<string> = new Set(['/livez', '/readyz', '/', ...Object.keys(pageFiles)])

/** Who may ask. @param tokens - `undefined` where none are needed. */
export function accessCheck({ host, allowAnonymous }: Options, tokens: { readonly value: Tokens } | undefined): Check {
  if (tokens !== undefined) {
    return ({ url = '', headers }) => {
      if (tokens.value.allow(headers.authorization) || open.has(pathOf(url))) return
      const [rule, error] =
        headers.authorization === undefined
          ? ['the request has no token', '']
          : ['the token is not one of those that the service knows', ', error="invalid_token"']
      throw new Problem('ERR_UNAUTHORIZED', `${rule}; send Authorization: Bearer and a token`, {
        'www-authenticate': `Bearer realm="graupel"${error}`,
      })
    }
  }
  const isLocal = isLoopback(host) && !allowAnonymous
  return ({ url = '', headers }) => {
    if (open.has(pathOf(url))) return
    // A page of another site must not use up numbers of a counter.
    const site = headers['sec-fetch-site']
    if (site === 'cross-site' || site === 'same-site') {
      throw new Problem('ERR_FORBIDDEN', 'a page of another site has sent the request; call the service from a program')
    }
    // Nor may it call this address by a name of its own (DNS rebinding).
    if (isLocal && headers.host !== undefined && !isLocalName(headers.host)) {
      throw new Problem('ERR_FORBIDDEN', 'Host is not localhost, 127.0.0.1 or [::1]; use one of these, or a token')
    }
  }
}

function isLocalName(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
