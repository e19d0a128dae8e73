import { platform } from '#platform'

/**
 * Warns once if a failover could leave two primaries that both acknowledge writes. A former primary that is
 * cut off keeps some of its replicas, and the others follow the new one: at most `(replicas - 1) / 2` on the
 * side that has fewer. So `min-replicas-to-write` has to be more than that (docs/stores/redis.md).
 */
export class ReplicaCheck {
  #hasWarned = false

  /**
   * @param info - The section `replication` of INFO. It only shows whether `min-replicas-to-write` is set.
   * @param ask - Asks for the setting by CONFIG GET, for which the user may have no right.
   */
  async check(info: string, ask: () => Promise<unknown>): Promise<void> {
    const replicas = Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0)
    const needed = Math.ceil(replicas / 2)
    if (this.#hasWarned || needed === 0) return
    const isSet = /^min_slaves_good_slaves:/m.test(info)
    const set = !isSet ? 0 : needed === 1 ? 1 : numberOf(await ask().catch(() => undefined))
    if (set === undefined || set >= needed) return
    this.#hasWarned = true
    platform.warn(
      `the server of the store 'redis' has ${replicas} replicas and min-replicas-to-write ${set}, so it goes on acknowledging after another server was promoted, and equal ids are possible; set min-replicas-to-write ${needed} on each server, and min-replicas-max-lag below the time after which a primary counts as down`,
      'GRAUPEL_REDIS_REPLICAS',
    )
  }
}

/**
 * Reads the number in the answer of CONFIG GET: a list, a Map, an object or pairs, depending on the client.
 */
function numberOf(answer: unknown): number | undefined {
  const text = JSON.stringify(answer instanceof Map ? [...answer] : answer)
  const found = /min-replicas-to-write\D+(\d+)/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
