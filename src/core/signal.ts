import { show, typeError } from './errors.js'

// Not among the other readers: the types of `graupel` alone need no type of a system, such as AbortSignal.

/** Reads the option `signal`. */
export function abortSignal(name: string, value: unknown): AbortSignal {
  const calls = ['addEventListener', 'removeEventListener', 'throwIfAborted']
  const isSignal = calls.every((call) => typeof Object(value)[call] === 'function')
  if (isSignal) return value as AbortSignal
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; pass the signal of an AbortController`, name)
}
