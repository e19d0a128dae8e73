import { platform } from '#platform'
import { readGeneration } from '../engine/generation.js'
import type { GenerationChange } from './hooks.js'
import type { Holding, LeaseProtocol } from './protocol.js'
import type { Publication } from './publication.js'
import { type Moment, readClocks, Term } from './term.js'

/**
 * The node that a lease has, with the generation of the machine that has it. In a copy of the machine the
 * node belongs to the original, so the copy neither renews it nor gives it back.
 */
export class HeldNode {
  readonly #protocol: LeaseProtocol
  readonly #publication: Publication
  /** The window of a strict lease. */
  readonly #strictMs: number | undefined
  /** `undefined` if the lease has no node whose record it may write. */
  #holding: Holding | undefined
  #generation: number | undefined
  /** The tick after all ticks that were used, if the state is sealed. A second seal could not tell it. */
  #sealedTick: number | undefined
  #term: Term | undefined

  /** @param strictMs - The window of a strict lease. */
  constructor(protocol: LeaseProtocol, publication: Publication, strictMs: number | undefined) {
    this.#protocol = protocol
    this.#publication = publication
    this.#strictMs = strictMs
  }

  /** The generation of the machine that has the node; `undefined` if there is no node. */
  get generation(): number | undefined {
    return this.#generation
  }

  /** Whether no copy of the machine was made since the node was acquired. */
  get isOriginal(): boolean {
    return this.#generation === readGeneration()
  }

  /** The token by which the node was acquired. */
  get token(): string | undefined {
    return this.#holding?.record.token
  }

  /** The term of a strict lease; `undefined` if it has no node. */
  get term(): Term | undefined {
    return this.#term
  }

  /**
   * Has another node, above all ids that any thread has made before.
   *
   * @param sent - The time before the store was called for it.
   * @returns the floor of its ids
   */
  moveTo(holding: Holding, generation: number, isFirst: boolean, sent: Moment): number {
    // No seal can come late: the ids of each caller ascend.
    const floor = isFirst ? holding.record.floor : Math.max(holding.record.floor, this.seal())
    this.#protocol.accept()
    this.#holding = holding
    this.#generation = generation
    this.#sealedTick = undefined
    this.#term = this.#strictMs === undefined ? undefined : new Term(platform, this.#strictMs, sent)
    return floor
  }

  /** Leaves the node to another machine, or to nobody. */
  leave(): void {
    this.endTerm()
    this.#holding = undefined
    this.#generation = undefined
  }

  /** Raises the ceiling in the record. @throws as {@link LeaseProtocol.renew} */
  async renew(signal: AbortSignal): Promise<Holding | 'lapsed' | 'lost'> {
    const sent = readClocks(platform)
    const term = this.#term
    const renewed = await this.#protocol.renew(this.#holding as Holding, signal)
    // Also if a call of the program has come meanwhile, which gives back what the store has acknowledged.
    if (typeof renewed !== 'string' && this.#holding !== undefined) this.#holding = renewed
    // A term that has ended meanwhile is no longer the present one.
    if (typeof renewed !== 'string' && term === this.#term) term?.renew(sent)
    return renewed
  }

  /** Ends the term before another lease can have the node. */
  endTerm(): void {
    this.#term?.end()
    this.#term = undefined
  }

  /** Lets no thread make another id. @returns the tick after all ticks that were used */
  seal(): number {
    this.endTerm()
    this.#sealedTick ??= this.#publication.seal()
    return this.#sealedTick
  }

  /**
   * Goes on with the node after the hook of another lease, in another state, which has the new generation.
   * Nothing is sealed that the call for this lease has sealed already.
   */
  goOn({ before, after }: GenerationChange): void {
    if (this.#generation !== before || this.#sealedTick !== undefined) return
    const floor = Math.max(this.#publication.view.floor, this.#publication.seal())
    // A device may have told of a copy meanwhile. The copy makes no id on the sealed state, and moves.
    if (readGeneration() !== after) return
    this.#generation = after
    this.#publication.change({ generation: after, floor })
  }

  /** Gives the node back, after sealing. @throws as {@link LeaseProtocol.release} */
  async giveBack(): Promise<void> {
    const holding = this.#holding
    this.leave()
    if (holding !== undefined) await this.#protocol.release(holding, this.seal())
  }
}
