import { createSecureContext, type SecureContextOptions } from 'node:tls'

/** A certificate and its key, as `setSecureContext` takes them. */
export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

/** @throws Error where they are no pair. */
export function pairOf([cert, key]: readonly Buffer[]): Pair {
  const pair: Pair = { cert: cert as Buffer, key: key as Buffer, minVersion: 'TLSv1.2' }
  createSecureContext(pair)
  return pair
}
