/** @import { Subject } from '../contract.js' */

/**
 * Writing one number into every place of an array: the least that any array of ids costs.
 *
 * @type {Subject}
 */
export default {
  name: 'array-fill',
  title: 'BigUint64Array#fill',
  group: 'yardstick',
  load: async () => () => ({ fill: (array) => array.fill(0x1a2b_3c4d_5e6f_7081n) }),
}
