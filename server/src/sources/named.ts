import { GraupelError } from 'graupel'

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
  /** @param signal - Aborted when no name is needed any more. */
  make(name: string, signal: AbortSignal): Promise<T>
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
  readonly #made = new Map<string, T>()
  readonly #making = new Map<string, Promise<T>>()
  readonly #end = new AbortController()

  constructor(options: NamedOptions<T>) {
    this.#options = options
  }

  /**
   * The one of a name. Requests that come while it is made wait for the same; where that fails, the next one tries again.
   *
   * @throws NameError; GraupelError `ERR_CLOSED`; what making one throws.
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

  /** Whether there is one of a name, or may be. @throws NameError; GraupelError `ERR_CLOSED` */
  check(name: string): void {
    this.#end.signal.throwIfAborted()
    if (this.#made.has(name) || this.#making.has(name)) return
    const { kind, names, maxNames } = this.#options
    if (names !== undefined && !names.has(name)) {
      throw new NameError('ERR_NAME_UNKNOWN', `there is no ${kind} of this name; the service has: ${listed(names)}`)
    }
    if (this.#made.size + this.#making.size < maxNames) return
    throw new NameError(
      'ERR_NAMES_FULL',
      `the service has ${maxNames} names of ${kind}s already, and makes no more; start it with --${kind}s and the names that there are, or with a larger --max-names`,
    )
  }

  /** Those that are made, by name. */
  entries(): [string, T][] {
    return [...this.#made]
  }

  /** Closes all; what is still being made is given up. */
  async close(): Promise<void> {
    this.#end.abort(new GraupelError('ERR_CLOSED', 'the service is being shut down'))
    await Promise.allSettled(this.#making.values())
    for (const made of this.#made.values()) made.close()
  }

  async #make(name: string): Promise<T> {
    const made = await this.#options.make(name, this.#end.signal)
    // At once, so that no name counts twice.
    this.#making.delete(name)
    this.#made.set(name, made)
    return made
  }
}

function listed(names: ReadonlySet<string>): string {
  const all = [...names]
  return all.length === 0 ? 'none' : all.slice(0, 10).join(', ') + (all.length > 10 ? ', …' : '')
}
