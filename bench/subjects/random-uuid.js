import { randomUUID } from 'node:crypto'

/** @import { Subject } from '../contract.js' */

/**
 * What a Node service uses that wants no Snowflake ids: 122 random bits, from a pool that is refilled in batches.
 *
 * @type {Subject}
 */
export default {
  name: 'random-uuid',
  title: 'crypto.randomUUID()',
  group: 'yardstick',
  load: async () => () => ({ next: () => randomUUID() }),
}
