import { rivals } from '../rivals/index.js'
import arrayFill from './array-fill.js'
import dateNow from './date-now.js'
import graupelFile from './graupel-file.js'
import graupelJs from './graupel-js.js'
import graupelNative from './graupel-native.js'
import graupelProcess from './graupel-process.js'
import randomUuid from './random-uuid.js'
import viewRead from './view-read.js'

/**
 * In the order of the table. Rivals are loaded only where they take part.
 *
 * @type {readonly import('../contract.js').Subject[]}
 */
export const subjects = [
  graupelNative,
  graupelProcess,
  graupelFile,
  graupelJs,
  dateNow,
  viewRead,
  arrayFill,
  randomUuid,
  ...rivals,
]
