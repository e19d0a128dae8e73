/** @import { Subject } from '../contract.js' */

/**
 * Reading an element of a BigUint64Array: the least that any id costs which reaches JavaScript as a bigint.
 *
 * @type {Subject}
 */
export default {
  name: 'view-read',
  title: 'BigUint64Array[0]',
  group: 'yardstick',
  async load() {
    const view = new BigUint64Array([0x1a2b_3c4d_5e6f_7081n])
    return () => ({
      next: () => {
        // Changed each time, so that the read cannot be taken out of the loop.
        view[1] = 0n
        return /** @type {bigint} */ (view[0])
      },
    })
  },
}
