import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { StartError } from '../failure.js'
import { Problem } from './problems.js'

/** A number of things a second. After a pause, the things of one second may come at once. */
export class Rate {
  readonly perSecond: number
  /** The time at which everything taken so far would have come one after the other. */
  #untilMs = 0

  constructor(perSecond: number) {
    this.perSecond = perSecond
  }

  /**
   * Takes things, or returns for how many milliseconds nothing can be taken, and takes nothing. More things
   * than those of a second come at once, and make the next pause longer: 3000 of 1000 a second take 3 s.
   */
  take(count: number, nowMs = performance.now()): number {
    const usedMs = Math.max(0, this.#untilMs - nowMs)
    const costMs = (1000 * count) / this.perSecond
    const waitMs = Math.min(usedMs, usedMs + costMs - 1000)
    if (waitMs > 0) return waitMs
    this.#untilMs = nowMs + usedMs + costMs
    return 0
  }

  /** Takes things back. */
  give(count: number): void {
    this.#untilMs -= (1000 * count) / this.perSecond
  }
}

/** The limits of a token. */
type Limits = Readonly<Partial<Record<'requests' | 'ids', number>>>

/**
 * A right of a token. `ids`: ids, numbers and counts; `leases`: the records of leases; `numbers`: the records
 * of segments and counters.
 */
export type Right = 'ids' | 'leases' | 'numbers'

const rights: readonly Right[] = ['ids', 'leases', 'numbers']
const defaultRights: readonly Right[] = ['ids']

/** The owner of one or more tokens. */
export class Client {
  readonly name: string
  readonly limits: Limits
  readonly rights: readonly Right[]
  readonly #requests: Rate | undefined
  readonly #ids: Rate | undefined

  constructor(name: string, limits: Limits, rights: readonly Right[] = defaultRights) {
    this.name = name
    this.limits = limits
    this.rights = rights
    const { requests, ids } = limits
    this.#requests = requests === undefined ? undefined : new Rate(requests)
    this.#ids = ids === undefined ? undefined : new Rate(ids)
  }

  /** @throws Problem `ERR_FORBIDDEN` */
  require(right: Right): void {
    this.requireOneOf([right])
  }

  /** @throws Problem `ERR_FORBIDDEN` */
  requireOneOf(wanted: readonly Right[]): void {
    if (wanted.some((right) => this.rights.includes(right))) return
    const needed = rights.filter((right) => this.rights.includes(right) || right === wanted[0])
    throw new Problem(
      'ERR_FORBIDDEN',
      `the token of ${this.name} has allow=${this.rights}; write allow=${needed} in the file of --token-file`,
    )
  }

  /** Counts a request or a command. @throws Problem `ERR_LIMIT_EXCEEDED` */
  takeRequest(): void {
    this.#take(this.#requests, 1, 'requests')
  }

  /** Counts ids, numbers or counts. @throws Problem `ERR_LIMIT_EXCEEDED` */
  takeIds(count: number): void {
    this.#take(this.#ids, count, 'ids')
  }

  /** Takes back what `takeIds` has counted. */
  giveIds(count: number): void {
    this.#ids?.give(count)
  }

  #take(rate: Rate | undefined, count: number, things: string): void {
    const waitMs = rate?.take(count) ?? 0
    if (rate === undefined || waitMs <= 0) return
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    throw new Problem(
      'ERR_LIMIT_EXCEEDED',
      `the token of ${this.name} may take ${rate.perSecond} ${things} a second; try again in ${seconds} s`,
      { 'retry-after': `${seconds}` },
    )
  }
}

/** The clients of the requests that have a token. */
const clients = new WeakMap<IncomingMessage, Client>()

export function noteClient(request: IncomingMessage, client: Client): void {
  clients.set(request, client)
}

/** Returns `undefined` if the service has no tokens. */
export function clientOf(request: IncomingMessage): Client | undefined {
  return clients.get(request)
}

const minLength = 16
/** The characters of a bearer token (RFC 6750, section 2.1). */
const pattern = /^[A-Za-z0-9._~+/-]+=*$/

/** The bearer tokens that the service accepts. */
export class Tokens {
  readonly #digests: readonly Buffer[]
  /** By the indices of the digests. */
  readonly #clients: readonly Client[]

  /**
   * @param text - One token a line, and its settings behind it: `name=billing requests=100 ids=50000
   * allow=ids,leases`. Empty lines and lines that begin with # are ignored. @throws StartError
   */
  constructor(text: string) {
    const lines = text.split(/\r?\n/).map((line) => line.trim())
    const given = [...lines.entries()].filter(([, line]) => line !== '' && !line.startsWith('#'))
    if (given.length === 0) throw new StartError('ERR_OPTION_INVALID', 'it has no token; write one a line')
    const byName = new Map<string, Client>()
    const digests = new Set<string>()
    const all = given.map(([index, line]): [Buffer, Client] => {
      const refuse = (fault: string) => new StartError('ERR_OPTION_INVALID', `line ${index + 1} ${fault}`)
      const [token = '', ...words] = line.split(/\s+/)
      // The message has neither the token nor its length, because errors are logged.
      if (token.length < minLength || !pattern.test(token)) {
        throw refuse(
          `is no token; write at least ${minLength} characters of A-Z, a-z, 0-9 and -._~+/, such as openssl rand -hex 24 prints`,
        )
      }
      const digest = digestOf(token)
      if (digests.has(digest.toString('hex'))) throw refuse('has the token of a line above it; give each token once')
      digests.add(digest.toString('hex'))
      const { name = digest.toString('hex', 0, 4), allow = defaultRights, ...limits } = settingsIn(words, refuse)
      const client = byName.get(name) ?? new Client(name, limits, allow)
      byName.set(name, client)
      if (client.limits.requests !== limits.requests || client.limits.ids !== limits.ids) {
        throw refuse('has the name of a token above it and other limits; give both the same limits')
      }
      if (`${client.rights}` !== `${allow}`) {
        throw refuse('has the name of a token above it and another allow=; give both the same')
      }
      return [digest, client]
    })
    this.#digests = all.map(([digest]) => digest)
    this.#clients = all.map(([, client]) => client)
  }

  /**
   * Returns the owner of the token in a header, or `undefined` if the token is not known, in the same time
   * for every token. @param authorization - The header.
   */
  clientOf(authorization: string | undefined): Client | undefined {
    if (authorization === undefined || !/^Bearer /i.test(authorization)) return undefined
    const digest = digestOf(authorization.slice('Bearer '.length).trim())
    let found = -1
    for (const [index, known] of this.#digests.entries()) {
      if (timingSafeEqual(known, digest)) found = index
    }
    return this.#clients[found]
  }
}

interface Settings extends Limits {
  readonly name?: string
  readonly allow?: readonly Right[]
}

/** Reads the words behind a token. Messages do not show them, because one may be a second token. */
function settingsIn(words: readonly string[], refuse: (fault: string) => StartError): Settings {
  const settings: Record<string, string | number | readonly Right[]> = {}
  for (const word of words) {
    const [, name = '', value = ''] = /^(name|requests|ids|allow)=([A-Za-z0-9._,-]{1,64})$/.exec(word) ?? []
    const read = settingOf(name, value)
    if (read === undefined) {
      throw refuse(
        'has a word behind its token that is no setting; write name=NAME, requests=N, ids=N, N from 1 to 999999999, or allow= with ids, leases, numbers and commas between them',
      )
    }
    if (Object.hasOwn(settings, name)) throw refuse(`has ${name} twice; give it once`)
    settings[name] = read
  }
  return settings
}

/** Reads the value of a setting; `undefined` if it is wrong. */
function settingOf(name: string, value: string): string | number | readonly Right[] | undefined {
  if (name === 'allow') {
    const given = value.split(',')
    const isKnown = given.every((one) => (rights as readonly string[]).includes(one))
    return isKnown ? rights.filter((right) => given.includes(right)) : undefined
  }
  if (name === 'name') return value.includes(',') ? undefined : value
  return name !== '' && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined
}

/** Returns bytes of the same length for every token, as `timingSafeEqual` requires. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
