/** @import { Subject } from '../contract.js' */

/**
 * Reading the clock: what every Snowflake generator has to do, or to find a way around.
 *
 * @type {Subject}
 */
export default {
  name: 'date-now',
  title: 'Date.now()',
  group: 'yardstick',
  load: async () => () => ({ next: Date.now }),
}
