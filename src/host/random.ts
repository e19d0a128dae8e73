import { attempt } from './attempt.js'

/** 64 random bits. Linux has them in a file, and to load Node's `crypto` takes longer than all else that a claim needs. */
export function randomBits(): bigint {
  // The first and the last eight digits of a UUID of version 4 are random (RFC 9562, section 5.4).
  const uuid = process.platform === 'linux' ? attempt(readUuid) : undefined
  const [, first, last] = uuid?.match(/^([0-9a-f]{8})-.*([0-9a-f]{8})\n$/) ?? []
  if (first !== undefined && last !== undefined) return BigInt(`0x${first}${last}`)
  return crypto.getRandomValues(new BigUint64Array(1))[0] as bigint
}

function readUuid(): string {
  return process.getBuiltinModule('node:fs').readFileSync('/proc/sys/kernel/random/uuid', 'utf8')
}
