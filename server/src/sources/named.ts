import { GraupelError } from 'graupel'

/** An object that is made for a name: a generator of segments, or a counter. */
interface Closable {
  close(): void
}

export interface NamedOptions<T> {
  /** The kind of the objects, for messages: `segment`. */
  readonly kind: string
  /** The only allowed names; `undefined` if every name is allowed. */
  readonly names: ReadonlySet<string> | undefined
  /** The most names that may be open. */
  readonly maxNames: number
  /** @param signal - Aborts when the service closes. */
  make(name: string, signal: AbortSignal): Promise<T>
}

/** An unknown name, or a name beyond the limit. */
export class NameError extends Error {
  readonly code: 'ERR_NAME_UNKNOWN' | 'ERR_NAMES_FULL'

  constructor(code: 'ERR_NAME_UNKNOWN' | 'ERR_NAMES_FULL', message: string) {
    super(message)
    this.code = code
  }
}

/** Objects by name, each made at its first request. */
export class Named<T extends Closable> {
  readonly #options: NamedOptions<T>
  readonly #made = new Map<string, T>()
  readonly #making = new Map<string, Promise<T>>()
  readonly #end = new AbortController()

  constructor(options: NamedOptions<T>) {
    this.#options = options
  }

  /**
   * Returns the object of a name. Requests that arrive while it is made share the attempt. If the attempt
   * fails, the next request makes another.
   *
   * @throws NameError; GraupelError `ERR_CLOSED`; errors of `make`
   */
  async get(name: string): Promise<T> {
    this.check(name)
    const found = this.#made.get(name) ?? this.#making.get(name)
    if (found !== undefined) return found
    const making = this.#make(name)
    this.#making.set(name, making)
    try {
      return await making
    } finally {
      this.#making.delete(name)
    }
  }

  /** Checks that a name exists or may be made. @throws NameError; GraupelError `ERR_CLOSED` */
  check(name: string): void {
    this.#end.signal.throwIfAborted()
    if (this.#made.has(name) || this.#making.has(name)) return
    const { kind, names, maxNames } = this.#options
    if (names !== undefined && !names.has(name)) {
      throw new NameError('ERR_NAME_UNKNOWN', `there is no ${kind} of this name; use one of: ${listed(names)}`)
    }
    if (this.#made.size + this.#making.size < maxNames) return
    throw new NameError(
      'ERR_NAMES_FULL',
      `the service already has ${maxNames} ${kind}s, its limit; start it with a larger --max-names, or list the names by --${kind}s`,
    )
  }

  /** Returns the names and objects that were made. */
  entries(): [string, T][] {
    return [...this.#made]
  }

  /** Closes all objects and gives up attempts to make one. */
  async close(): Promise<void> {
    this.#end.abort(new GraupelError('ERR_CLOSED', 'the service is being shut down'))
    await Promise.allSettled(this.#making.values())
    for (const made of this.#made.values()) made.close()
  }

  async #make(name: string): Promise<T> {
    const made = await this.#options.make(name, this.#end.signal)
    // Before `#made`, so the name does not count twice.
    this.#making.delete(name)
    this.#made.set(name, made)
    return made
  }
}

function listed(names: ReadonlySet<string>): string {
  const all = [...names]
  return all.length === 0 ? 'none' : all.slice(0, 10).join(', ') + (all.length > 10 ? ', …' : '')
}
