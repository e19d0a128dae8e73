import { isGraupelError, rangeError, reasonOf } from '../../core/errors.js'
import { decoded } from '../record.js'

/** The URL of a store, such as the value of `--store`. It often has a password. */
export class StoreUrl {
  /** The URL as given. */
  readonly text: string
  /** The scheme in small letters, with its colon: `redis:` */
  readonly scheme: string
  /** The text after the scheme. */
  readonly rest: string
  /** The URL for messages, without credentials and parameters. */
  readonly shown: string
  /**
   * `user:password` as given. Credentials, address and query are empty if they are missing, or if no `//`
   * follows the scheme.
   */
  readonly credentials: string = ''
  /** The hosts and the path. */
  readonly address: string = ''
  /** The text after the question mark. */
  readonly query: string = ''
  readonly #secrets: readonly string[] = []

  /** @throws RangeError `ERR_OPTION_INVALID` */
  constructor(text: string) {
    const colon = text.indexOf(':') + 1
    this.text = text
    this.scheme = text.slice(0, colon).toLowerCase()
    this.rest = text.slice(colon)
    // The text may be a password, so no message shows it.
    if (!/^[a-z][a-z0-9+.-]*:$/.test(this.scheme)) {
      throw rangeError(
        'ERR_OPTION_INVALID',
        'store is no URL; give one such as redis://127.0.0.1:6379 or sqlite:fleet.db',
        'store',
      )
    }
    this.shown = text
    if (!this.rest.startsWith('//')) return
    // A password may contain '@', '/' or '?', although it should be encoded: all text up to the last '@'
    // counts as credentials.
    const at = this.rest.lastIndexOf('@')
    this.credentials = this.rest.slice(2, Math.max(2, at))
    const [address, query = ''] = cut(this.rest.slice(at === -1 ? 2 : at + 1), '?')
    this.address = address
    this.query = query
    this.shown = `${this.scheme}//${at === -1 ? '' : '***@'}${address}`
    checkPorts(address)
    const [user, password = user] = cut(this.credentials, ':')
    const values = query.split('&').map((pair) => cut(pair, '='))
    // A parameter that ends with `-file` names the file of a secret, and is not secret.
    const isSecret = (name = '') => /pass|secret|token|key/i.test(name) && !/-file$/i.test(name)
    const named = values.filter(([name]) => isSecret(name)).map(([, value = '']) => value)
    this.#secrets = [this.credentials, password, ...named]
      .flatMap((secret) => [secret, decoded(secret)])
      .filter(Boolean)
  }

  /**
   * The parameters after the question mark.
   *
   * @throws RangeError `ERR_OPTION_INVALID` for a parameter that is not among the names.
   */
  parameters(names: readonly string[]): Readonly<Record<string, string>> {
    const all = [...new URLSearchParams(this.query)]
    const twice = names.find((name) => all.filter(([one]) => one === name).length > 1)
    if (twice !== undefined) {
      throw rangeError('ERR_OPTION_INVALID', `store has the parameter ${twice} twice; give it once`, 'store')
    }
    const found = Object.fromEntries(all)
    if (Object.keys(found).every((name) => names.includes(name))) return found
    const known = names.length === 0 ? 'none' : names.join(' and ')
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store has parameters that ${this.scheme} does not have; there are ${known}`,
      'store',
    )
  }

  /**
   * Checks a URL that a client parses. It would say little of a wrong one, or take another host.
   *
   * @param form - What to write behind `//`.
   * @throws RangeError `ERR_OPTION_INVALID`
   */
  check(form: string): void {
    const isUrl = this.rest === '' || this.rest.startsWith('//')
    if (isUrl && URL.canParse(`${this.scheme}//${this.credentials}@host`)) return
    // The message omits the text, which may have a password.
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store is no URL; write ${this.scheme}//${form}, with %40 for an @, %2F for a /, and the like`,
      'store',
    )
  }

  /** Removes the credentials of the URL from a text. The URL that is shown stays: it has none. */
  hide(text: string): string {
    const cover = (part: string) => this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), part)
    return text.split(this.shown).map(cover).join(this.shown)
  }

  /**
   * Returns the message of an error without the credentials of the URL. Only the words of a client can have
   * them, which a message of this package quotes from its cause: the other words stay. A message that quotes
   * its cause in part loses them everywhere.
   */
  messageOf(error: unknown): string {
    if (!isGraupelError(error)) return this.hide(reasonOf(error))
    const { message, cause } = error
    if (cause === undefined) return message
    const words = reasonOf(cause)
    return message.includes(words) ? message.split(words).join(this.messageOf(cause)) : this.hide(message)
  }
}

/**
 * Checks the port of each host: a client would take a wrong one for a failure of the store. @throws
 * RangeError
 */
function checkPorts(address: string): void {
  const [hosts] = cut(address, '/')
  for (const host of hosts.split(',')) {
    const [, port = ''] = /:([^\]:]*)$/.exec(host) ?? []
    if (/^\d*$/.test(port) && Number(port) <= 65_535) continue
    // The message omits the text, which may be a password without its host.
    throw rangeError(
      'ERR_OPTION_INVALID',
      'store has a port that is not a number up to 65535; write HOST:PORT',
      'store',
    )
  }
}

/** Splits a text at a mark. The second part is `undefined` if there is no mark. */
export function cut(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
