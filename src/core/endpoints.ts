import { rangeError, show, showNoText, typeError } from './errors.js'

// Services that are spoken to by HTTP: where they are, and why they cannot be reached.

/**
 * The URLs of an option, without slashes at their ends.
 *
 * @param rule - What to do where a URL has more than scheme, host, port and path.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function endpointsOf(option: string, url: unknown, rule: string): string[] {
  const all: unknown[] = Array.isArray(url) ? url : [url]
  if (all.length === 0) throw rangeError('ERR_OPTION_INVALID', `${option} is an empty array; pass one endpoint or more`)
  return all.map((one) => {
    // A text is not shown, because it may have a password.
    if (typeof one !== 'string' || !/^https?:\/\//.test(one) || !URL.canParse(one)) {
      const kinds = 'pass one that begins with http:// or https://, or an array of them'
      throw typeError('ERR_OPTION_INVALID', `${option} is ${showNoText(one)}; ${kinds}`)
    }
    const { origin, pathname, username, password, search, hash } = new URL(one)
    if (username + password + search + hash !== '') {
      throw rangeError('ERR_OPTION_INVALID', `${option} has a user, a password, a query or a fragment; ${rule}`)
    }
    return origin + pathname.replace(/\/+$/, '')
  })
}

/** The reason of an error of `fetch`, whose own message is 'fetch failed', or of a function in its place. */
export function reasonOf(error: unknown): { code: string; reason: string } {
  const { cause = error, message } = Object(error)
  const { code = '', errors } = Object(cause)
  // For a name with several addresses, of which all have failed.
  const all = [cause, ...(Array.isArray(errors) ? errors : [])]
  const inner = all.map((one) => Object(one).message).find(Boolean)
  return { code: String(code), reason: String(inner ?? (code || message || show(error))) }
}
