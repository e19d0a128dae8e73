import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { StartError } from '../failure.js'

/** A certificate and its key, as `setSecureContext` takes them. */
export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

/** @throws StartError where they are no pair. */
export function pairOf([cert, key]: readonly Buffer[]): Pair {
  const pair: Pair = { cert: cert as Buffer, key: key as Buffer, minVersion: 'TLSv1.2' }
  try {
    createSecureContext(pair)
  } catch (error) {
    // Such as `error:0480006C:PEM routines::no start line`, which says neither the rule nor what to do.
    const { message } = error as Error
    throw new StartError(
      'ERR_OPTION_INVALID',
      `${message}; give a certificate chain in PEM and the private key of it`,
      error,
    )
  }
  return pair
}
