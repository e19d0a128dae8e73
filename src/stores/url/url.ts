import { rangeError } from '../../core/errors.js'

/** The value of `--store`: where a store is, often with a password. */
export class StoreUrl {
  /** As given. */
  readonly text: string
  /** In small letters, with its colon: `redis:` */
  readonly scheme: string
  /** The text after the scheme. */
  readonly rest: string
  /** For messages: without credentials, and without what follows a question mark. */
  readonly shown: string
  /** `user:password` as given; empty where there is none, and where no `//` follows the scheme. So are the next two. */
  readonly credentials: string = ''
  /** The hosts and the path. */
  readonly place: string = ''
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
    // A password should have no '@', '/' or '?', and may have each: all up to the last '@' is taken for credentials.
    const at = this.rest.lastIndexOf('@')
    this.credentials = this.rest.slice(2, Math.max(2, at))
    const [place, query = ''] = cut(this.rest.slice(at === -1 ? 2 : at + 1), '?')
    this.place = place
    this.query = query
    this.shown = `${this.scheme}//${at === -1 ? '' : '***@'}${place}`
    const [user, password = user] = cut(this.credentials, ':')
    const values = query.split('&').map((pair) => cut(pair, '='))
    // The file of a secret is none.
    const isSecret = (name = '') => /pass|secret|token|key/i.test(name) && !/-file$/i.test(name)
    const named = values.filter(([name]) => isSecret(name)).map(([, value = '']) => value)
    this.#secrets = [this.credentials, password, ...named]
      .flatMap((secret) => [secret, decoded(secret)])
      .filter(Boolean)
  }

  /** The parameters after the question mark. @throws RangeError `ERR_OPTION_INVALID` for one that is not among the names. */
  parameters(names: readonly string[]): Readonly<Record<string, string>> {
    const found = Object.fromEntries(new URLSearchParams(this.query))
    if (Object.keys(found).every((name) => names.includes(name))) return found
    const known = names.length === 0 ? 'none' : names.join(' and ')
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store has parameters that ${this.scheme} does not have; there are ${known}`,
      'store',
    )
  }

  /** A client's message without the credentials of the URL. */
  hide(message: string): string {
    return this.#secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
  }
}

/** A text before and after a mark; the second is `undefined` where there is none. */
export function cut(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** Without percent signs; a text that has others stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
