import type { Store } from '../../../src/stores/store.js'
import type { Random } from '../../support/random.ts'
import type { VirtualTime } from '../../support/virtual-time.ts'

/** The faults of the calls of a process. */
export interface Network {
  isAway: boolean
  /** Some calls take longer than their deadline, and some answers never come. */
  isFaulty: boolean
  /** Requests reach the server at once, so a call that is aborted has been done. */
  readonly isPrompt: boolean
}

/** A moment of a call: the server has done it, or its answer has come. */
export type CallMoment = 'done' | 'answered'

/** A record that was written, as far as the judge reads it. */
export interface Written {
  readonly token: string
  readonly isReleased: boolean
}

/**
 * Returns the store as one lease sees it.
 *
 * @param onCall - Called when it reads or writes a record of a node.
 * @param onTaking - Called at two moments of a write that takes or renews a node.
 */
export function storeFor(
  server: Store,
  time: VirtualTime,
  random: Random,
  network: Network,
  onCall: (key: string, record?: Written) => void,
  onTaking: (moment: CallMoment) => void,
): Store {
  const slow = () => time.sleep(random() * (network.isFaulty && random() < 0.1 ? 300 : 20))
  const call = async <T>(run: () => Promise<T>, onMoment = (_: CallMoment) => {}): Promise<T> => {
    if (network.isAway) throw new Error('away')
    if (!network.isPrompt && random() < 0.7) await slow()
    const answer = await run()
    onMoment('done')
    if (network.isFaulty && random() < 0.03) await time.sleep(1e7)
    if (random() < 0.7) await slow()
    onMoment('answered')
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
      const record: Written | undefined = key.startsWith('leases/') ? JSON.parse(value) : undefined
      if (record !== undefined) onCall(key, record)
      const isTaking = record !== undefined && !record.isReleased
      return call(() => server.write(key, value, expected), isTaking ? onTaking : undefined)
    },
  }
}
