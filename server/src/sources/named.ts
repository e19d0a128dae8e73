import { type ErrorCode, GraupelError } from 'graupel'

/** What is made for a name and closed in the end: a generator of segments, or a counter. */
interface Closable {
  close(): void
}

export interface NamedOptions<T> {
  /** What a name is of, for messages: `segment`. */
  readonly kind: string
  /** The only names there are; `undefined` where every name is made that is asked for. */
  readonly names: ReadonlySet<string> | undefined
  /** The most names that are made. */
  readonly maxNames: number
  make(name: string): Promise<T>
}

/** A name that there is none of, or no more room for. */
export class NameError extends Error {
  readonly code: 'ERR_NAME_UNKNOWN' | 'ERR_NAMES_FULL'

  constructor(code: 'ERR_NAME_UNKNOWN' | 'ERR_NAMES_FULL', message: string) {
    super(message)
    this.code = code
  }
}

/** One generator for each name, made when it is first asked for. */
export class Named<T extends Closable> {
  readonly #options: NamedOptions<T>
  readonly #made = new Map<string, Promise<T>>()
  #isClosed = false

  constructor(options: NamedOptions<T>) {
    this.#options = options
  }

  /** @throws NameError, GraupelError `ERR_CLOSED`, and what making one throws, which is tried again at the next call. */
  get(name: string): Promise<T> {
    const found = this.#made.get(name)
    if (found !== undefined) return found
    const { kind, names, maxNames, make } = this.#options
    if (this.#isClosed) throw new GraupelError('ERR_CLOSED' satisfies ErrorCode, 'the service is being shut down')
    if (names !== undefined && !names.has(name)) {
      throw new NameError('ERR_NAME_UNKNOWN', `there is no ${kind} of this name; the service has: ${listed(names)}`)
    }
    if (this.#made.size >= maxNames) {
      throw new NameError(
        'ERR_NAMES_FULL',
        `the service has ${maxNames} names of ${kind}s already, and makes no more; start it with a larger --max-names`,
      )
    }
    const made = make(name)
    this.#made.set(name, made)
    made.catch(() => this.#made.delete(name))
    return made
  }

  /** Those that are made, by name. */
  async entries(): Promise<[string, T][]> {
    const all = await Promise.allSettled(
      [...this.#made].map(async ([name, made]): Promise<[string, T]> => [name, await made]),
    )
    return all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const [, made] of await this.entries()) made.close()
  }
}

function listed(names: ReadonlySet<string>): string {
  const all = [...names]
  return all.length === 0 ? 'none' : all.slice(0, 10).join(', ') + (all.length > 10 ? ', …' : '')
}
