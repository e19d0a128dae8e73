import { platform } from '#platform'
import { GraupelError, show, showTime } from '../core/errors.js'
import { readGeneration } from '../engine/generation.js'
import { StoreCalls } from '../stores/calls.js'
import { tokenAt } from '../stores/record.js'
import { Group } from './group.js'
import type { GenerationChange } from './hooks.js'
import type { Exhausted } from './node-search.js'
import { type Holding, LeaseProtocol } from './protocol.js'
import type { Publication } from './publication.js'
import type { ResolvedLeaseOptions } from './resolve.js'
import type { LeaseParts } from './server-life.js'
import { type Moment, readClocks } from './term.js'

/** The longest pause before the next look for a free node. Up to half is subtracted at random. */
const maxPauseMs = 1000
/** The same for a strict lease, whose clients wait for the next holder. */
const strictPauseMs = 250
/** The longest time between two looks at the clock while a floor has not passed, in milliseconds. */
const lookMs = 1000

/**
 * Acquires nodes for one lease. Waits for a server that is trusted, for a free node, and until the node's
 * floor has passed.
 */
export class Acquisition {
  readonly protocol: LeaseProtocol
  readonly #options: ResolvedLeaseOptions
  readonly #publication: Publication
  readonly #parts: LeaseParts
  #token = newToken()
  /** The generation of the machine at which the last attempt has begun. */
  #generation = readGeneration()
  /** The time at which the last attempt has begun. */
  #sent = readClocks(platform)
  /** The holder that the lease last found. */
  #holder: string | undefined

  /** @param isAwaited - Whether its timers keep the process alive. */
  constructor(options: ResolvedLeaseOptions, publication: Publication, isAwaited: () => boolean) {
    const { store, layout, namespace, nodes, callTimeoutMs } = options
    const { monotonicMs, wallMs, random, later, background } = platform
    this.#options = options
    this.#publication = publication
    const clock = {
      wallMs,
      monotonicMs,
      random,
      later: (callback: () => void, ms: number) => (isAwaited() ? later : background)(callback, ms),
      newToken,
      onWait: (untilMs: number) => this.#reportServer(untilMs),
    }
    this.#parts = {
      calls: new StoreCalls(store, clock, callTimeoutMs),
      group: Group.of(layout, namespace, nodes),
      rules: { ...options, durable: store.durable, writeMs: 2 * callTimeoutMs },
      clock,
    }
    this.protocol = new LeaseProtocol(this.#parts)
  }

  /**
   * Acquires a node. A node that this lease has had is free to it, until `forget` is called. If the machine
   * is copied meanwhile, the copy begins again with another token, because the first node belongs to the
   * machine whose generation is unchanged.
   *
   * @throws GraupelError `ERR_NODES_EXHAUSTED` after `acquireTimeoutMs`; as {@link LeaseProtocol.acquire}.
   * Call `abandon` then, and also if the node is not used, unless another attempt follows.
   */
  async acquire(signal: AbortSignal | undefined): Promise<Holding> {
    let exhaustedSinceMs: number | undefined
    for (;;) {
      if (!this.isOnSameMachine) this.#token = newToken()
      this.#generation = readGeneration()
      this.#sent = readClocks(platform)
      // The attempt before may have a node: its write has landed without an answer, or its floor has not
      // passed. This attempt would wait for the ceiling of that node.
      await this.abandon(signal)
      const got = await this.protocol.acquire(this.#token, signal)
      if ('held' in got) {
        exhaustedSinceMs ??= platform.monotonicMs()
        await this.#waitForNode(got, exhaustedSinceMs, signal)
        continue
      }
      exhaustedSinceMs = undefined
      this.#holder = undefined
      const isHeld = await this.#waitForFloor(got, signal)
      if (isHeld && this.isOnSameMachine) return got
    }
  }

  /** The time at which the last attempt has begun, before any call of the store. */
  get sent(): Moment {
    return this.#sent
  }

  /** The generation of the machine that has the node of the last attempt. */
  get generation(): number {
    return this.#generation
  }

  /** Whether this machine is no copy that was made since the last attempt has begun. */
  get isOnSameMachine(): boolean {
    return readGeneration() === this.#generation
  }

  /** Goes on with an attempt after a hook of another lease, which is no copy. */
  goOn({ before, after }: GenerationChange): void {
    if (this.#generation === before) this.#generation = after
  }

  /** Gives back the node of an attempt that has failed or was aborted, if it has one. @throws as `acquire` */
  async abandon(signal?: AbortSignal): Promise<void> {
    if (this.isOnSameMachine) await this.protocol.abandon(this.#token, signal)
  }

  /** Describes the place of the records, if someone listens; `undefined` if it is not known. */
  async place(signal: AbortSignal | undefined): Promise<string | undefined> {
    return this.#publication.isHeard('moved') ? this.#parts.calls.place(signal).catch(() => undefined) : undefined
  }

  /** Gives up the claim to the node that the lease had by a token, because another process has it. */
  forget(token: string | undefined): void {
    if (this.#token === token) this.#token = newToken()
  }

  /**
   * Tells users why the acquisition takes some seconds: by an event, or by a warning if no one listens to
   * events.
   */
  #reportServer(untilMs: number): void {
    // Before the event, because its listener may park the lease.
    if (this.#publication.hasNode)
      this.#publication.change({ failure: 'server has just started', failureDetail: untilMs })
    this.#publication.publish('waiting', { untilMs })
    if (!this.#publication.isHeard('waiting')) {
      const { store, namespace } = this.#options
      platform.warn(
        `the lease of namespace ${show(namespace)} waits until ${showTime(untilMs)}, because the server of the store '${store.name}' has started or is new to this group, and may have forgotten leases; if it never forgets, pass assumeDurable: true to the store, or --assume-durable to a graupel-server; for development see docs/leases.md`,
        'GRAUPEL_LEASE_WAIT',
      )
    }
  }

  /** Tells who has the node of a strict lease, once for each holder. */
  #reportHolder([holder]: readonly string[]): void {
    if (!this.#options.strict || holder === this.#holder) return
    this.#holder = holder
    this.#publication.publish('standby', holder === undefined ? {} : { holder })
  }

  /** @param sinceMs - The monotonic time since when this acquisition finds no free node. */
  async #waitForNode(
    { held, owners, freeAtMs }: Exhausted,
    sinceMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted()
    const { acquireTimeoutMs } = this.#options
    const leftMs = sinceMs + acquireTimeoutMs - platform.monotonicMs()
    if (this.#publication.hasNode) this.#publication.change({ failure: 'nodes are held', failureDetail: held })
    this.#reportHolder(owners)
    const pauseMs = this.#options.strict ? strictPauseMs : maxPauseMs
    if (leftMs > 0) return this.#parts.calls.pause(Math.min(pauseMs, 2 * leftMs), signal)
    const free = freeAtMs === undefined ? 'unknown' : showTime(freeAtMs)
    throw new GraupelError(
      'ERR_NODES_EXHAUSTED',
      `every node that this lease may have is held: ${held} of ${this.#parts.group.ids}, by ${owners.join(', ')}; the first may be free at ${free}; stop processes, or raise acquireTimeoutMs (${acquireTimeoutMs})`,
      { option: 'acquireTimeoutMs' },
    )
  }

  /**
   * Waits until the clock has passed the floor of an acquired node, so that its first id has the present
   * time.
   *
   * @returns Whether the node is still held. It has lapsed after a window.
   */
  async #waitForFloor({ record }: Holding, signal: AbortSignal | undefined): Promise<boolean> {
    const untilMs = this.#parts.group.timeOf(record.floor)
    const startMs = platform.monotonicMs()
    const leftMs = () => untilMs - platform.wallMs()
    signal?.throwIfAborted()
    let ms = leftMs()
    if (ms > 0) this.#publication.publish('waiting', { untilMs })
    // In parts, because the clock may have stepped back for a moment, even by an hour.
    for (; ms > 0; ms = leftMs()) {
      if (platform.monotonicMs() - startMs >= this.#options.windowMs) return false
      await this.#parts.calls.wait(Math.min(ms, lookMs), signal)
    }
    return true
  }
}

/**
 * Makes a token with bits of the system: the system of a copied machine draws others, but `crypto` the same
 * for a while.
 */
function newToken(): string {
  const token = tokenAt(platform.monotonicMs())
  return platform.claims === undefined ? token : `${token} ${platform.claims.randomBits().toString(36)}`
}
