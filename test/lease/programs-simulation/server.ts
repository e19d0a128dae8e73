import type { Store } from '../../../src/stores/store.js'
import type { Random } from '../../support/random.ts'
import type { VirtualTime } from '../../support/virtual-time.ts'

/** The faults of the calls of a process. */
export interface Network {
  isAway: boolean
  /** Some calls take longer than their deadline, and some answers never come. */
  isFaulty: boolean
}

/** A record that was written, as far as the judge reads it. */
export interface Written {
  readonly token: string
  readonly isReleased: boolean
}

/**
 * Returns the store as one lease sees it. @param onCall - Called when it reads or writes a record of a node.
 */
export function storeFor(
  server: Store,
  time: VirtualTime,
  random: Random,
  network: Network,
  onCall: (key: string, record?: Written) => void,
): Store {
  const slow = () => time.sleep(random() * (network.isFaulty && random() < 0.1 ? 300 : 20))
  const call = async <T>(run: () => Promise<T>): Promise<T> => {
    if (network.isAway) throw new Error('away')
    if (random() < 0.7) await slow()
    const answer = await run()
    if (network.isFaulty && random() < 0.03) await time.sleep(1e7)
    if (random() < 0.7) await slow()
    return answer
  }
  return {
    name: 'simulated',
    durable: true,
    read: (key) => {
      onCall(key)
      return call(() => server.read(key))
    },
    list: (folder) => call(() => server.list(folder)),
    write: (key, value, expected) => {
      if (key.startsWith('leases/')) onCall(key, JSON.parse(value))
      return call(() => server.write(key, value, expected))
    },
  }
}
