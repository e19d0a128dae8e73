const prime = 0x100_0000_01b3n
const starts = [0xcbf2_9ce4_8422_2325n, 0x8422_2325_cbf2_9ce4n]

/** The name of a key's page and claim, without what follows the dot; `NameHash` of `native/core/checksum.h` in TypeScript. */
export function nameOf(key: string): string {
  const bytes = new TextEncoder().encode(key)
  return starts
    .map((start) => bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime), start))
    .map((hash) => hash.toString(16).padStart(16, '0'))
    .join('')
}
