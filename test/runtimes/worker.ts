import { createGenerator, type GraupelError, layouts } from 'graupel'
import { useClient } from './use-client.mjs'

// A program for workerd, the runtime of Cloudflare Workers. frozen-clock.ts runs before it.

export default {
  async test(_controller: unknown, { SERVICE }: { SERVICE: string }) {
    const before = [Date.now(), performance.now()].join()
    for (let i = 0; i < 1e5; i++)
      if ([Date.now(), performance.now()].join() !== before) throw new Error('this clock moves')

    // Waiting would never end while the clock is frozen, so the call throws as soon as the tick is full.
    const waiting = createGenerator({ node: 7, state: 'process' })
    const made = new Set<bigint>()
    let refusal: GraupelError | undefined
    while (refusal === undefined && made.size < 100_000) {
      try {
        made.add(waiting.next())
      } catch (error) {
        refusal = error as GraupelError
      }
    }
    if (refusal?.code !== 'ERR_SEQUENCE_OVERFLOW') throw new Error(`refused by ${refusal}`)
    if (made.size !== 4096) throw new Error(`${made.size} ids in a tick`)
    // nextAsync waits by a timer, and then the clock moves.
    const next = await waiting.nextAsync()
    if (made.has(next)) throw new Error('nextAsync repeats an id')

    // 'advance' does not need the clock.
    const advancing = createGenerator({ node: 8, state: 'process', onOverflow: 'advance', layout: layouts.twitter })
    const many = new Set<bigint>(advancing.take(1_000_000))
    if (many.size !== 1_000_000) throw new Error(`${many.size} of a million are distinct`)

    await useClient(SERVICE)
    console.log(`done: ${made.size + many.size} ids`)
  },
}
