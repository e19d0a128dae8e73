const prime = 0x100_0000_01b3n
const starts = [0xcbf2_9ce4_8422_2325n, 0x8422_2325_cbf2_9ce4n]

/** The hash of a key that names its page and its claim; `NameHash` of `native/core/checksum.h` in TypeScript. */
export function nameOf(key: string): string {
  const bytes = new TextEncoder().encode(key)
  return starts
    .map((start) => bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime), start))
    .map((hash) => hash.toString(16).padStart(16, '0'))
    .join('')
}

/** Where the claim of a key is. */
export function claimIn(folder: string, key: string): string {
  return `${folder}/${nameOf(key)}.claim`
}

/** Where the page of a claim's key is, from the path of the claim. */
export function pageBeside(claim: string): string {
  return claim.replace(/claim$/, 'page')
}

/** The last part of a path. */
export function fileNameIn(path: string): string {
  return path.slice(path.search(/[^/\\]*$/))
}

// A name that begins with a dot is one under which something is being made.

export function isPageName(name: string): boolean {
  return /^[^.].*\.page$/s.test(name)
}

/** Whether a name is one that graupel gives to a page. */
export function isHashedPageName(name: string): boolean {
  return /^[0-9a-f]{32}\.page$/.test(name)
}

export function isClaimName(name: string): boolean {
  return /^[^.].*\.claim$/s.test(name)
}

/** Whether a name is one under which a page, or a step of a claim, is being made. */
export function isUnfinishedName(name: string): boolean {
  return /^\..*\.new$/s.test(name)
}
