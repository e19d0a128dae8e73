import { GraupelError } from './errors.js'

/** Refuses a runtime without Atomics. @throws GraupelError `ERR_STATE_UNREACHABLE` */
export function requireAtomics(): void {
  if (typeof Atomics !== 'undefined') return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    'this runtime has no Atomics, by which generators count, as in some versions of React Native; get ids from a server, for example by graupel/client',
  )
}
