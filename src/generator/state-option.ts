import { rangeError, show, typeError } from '../core/errors.js'

/** The values of the option `state` that are no path. */
const words = ['host', 'process', 'thread']
const urlRemedy = 'pass the path, which fileURLToPath() of node:url gives'

/** Reads the option `state`: one of three words, or a path. */
export function stateOfUser(name: string, state: unknown): string {
  if (Object.prototype.toString.call(state) === '[object URL]') {
    throw typeError('ERR_OPTION_INVALID', `${name} is a URL; ${urlRemedy}`, name)
  }
  if (typeof state !== 'string') {
    const rule = "pass 'host', 'process', 'thread', or the path of a file"
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(state)}; ${rule}`, name)
  }
  if (words.includes(state)) return state
  if (/^file:/i.test(state)) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(state)}, a URL; ${urlRemedy}`, name)
  }
  // A word such as 'hosts' is a mistake, and not the name of a file in the current folder.
  if (/[./\\]/.test(state) && !state.includes('\0')) return state
  const rule = "pass 'host', 'process', 'thread', or a path with a slash or a dot, such as './ids.state'"
  throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(state)}; ${rule}`, name)
}
