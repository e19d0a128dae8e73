import { hash, timingSafeEqual } from 'node:crypto'
import { StartError } from '../failure.js'

const minLength = 16
/** The characters of a bearer token (RFC 6750, section 2.1). */
const pattern = /^[A-Za-z0-9._~+/-]+=*$/

/** The bearer tokens that may ask. */
export class Tokens {
  readonly #digests: readonly Buffer[]

  /** @param text - One token a line; empty lines and those that begin with # are left out. @throws StartError */
  constructor(text: string) {
    const lines = text.split(/\r?\n/).map((line) => line.trim())
    const tokens = [...lines.entries()].filter(([, line]) => line !== '' && !line.startsWith('#'))
    if (tokens.length === 0) throw new StartError('ERR_OPTION_INVALID', 'it has no token; write one a line')
    for (const [index, token] of tokens) {
      // Neither the token nor its length is said: errors are logged.
      if (token.length < minLength || !pattern.test(token)) {
        throw new StartError(
          'ERR_OPTION_INVALID',
          `line ${index + 1} is no token; write at least ${minLength} characters of A-Z, a-z, 0-9 and -._~+/, such as openssl rand -hex 24 prints`,
        )
      }
    }
    this.#digests = tokens.map(([, token]) => digestOf(token))
  }

  /** @param authorization - The header. It takes as long for a wrong token as for the right one. */
  allow(authorization: string | undefined): boolean {
    if (authorization === undefined || !/^Bearer /i.test(authorization)) return false
    const digest = digestOf(authorization.slice('Bearer '.length).trim())
    let isAllowed = false
    for (const known of this.#digests) {
      if (timingSafeEqual(known, digest)) isAllowed = true
    }
    return isAllowed
  }
}

/** Of equal length for all, as the comparison needs it. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
