// The targets for which the published package has a binary. node-gyp-build finds the binaries by these names
// of folders and files. `.github/workflows/binaries.yml` makes them, and `scripts/check-binaries.ts` checks
// that none is missing.

type Arch = 'x64' | 'arm64'

export interface Target {
  /** The name in tables and on the command line. */
  name: string
  /** The folder below prebuilds/. */
  folder: string
  /** The file in that folder. Its name has the C library for Linux, which has two. */
  file: string
  /** The value of `process.platform`. */
  platform: 'linux' | 'darwin' | 'win32'
  /** The value of `process.arch`. */
  arch: Arch
  libc?: 'glibc' | 'musl'
  /** The name for Clang, which has the oldest system that is supported. */
  triple: string
}

/** The oldest glibc that the binaries run on. RHEL 8 and Debian 10 have it, and Node 20 needs it. */
export const oldestGlibc = '2.28'

export const targets: readonly Target[] = [
  linux('x64', 'glibc', `x86_64-linux-gnu.${oldestGlibc}`),
  linux('arm64', 'glibc', `aarch64-linux-gnu.${oldestGlibc}`),
  linux('x64', 'musl', 'x86_64-linux-musl'),
  linux('arm64', 'musl', 'aarch64-linux-musl'),
  // 11.0 as in binding.gyp.
  other('darwin', 'x64', 'x86_64-macos.11.0'),
  other('darwin', 'arm64', 'aarch64-macos.11.0'),
  other('win32', 'x64', 'x86_64-windows-gnu'),
  other('win32', 'arm64', 'aarch64-windows-gnu'),
]

/**
 * The most bytes of a binary. The binary for Linux x64 has some 245 000. Visual Studio links the C library
 * into its binaries, too.
 */
export const maxBytesOfBinary = 400_000

/** Returns the target of the Node that runs this, or nothing if there is no such target. */
export function ownTarget(): Target | undefined {
  const { platform, arch } = process
  const libc = platform === 'linux' ? ownLibc() : undefined
  return targets.find((target) => target.platform === platform && target.arch === arch && target.libc === libc)
}

function ownLibc(): 'glibc' | 'musl' {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean }
  // The report would otherwise look up the names of this host's addresses, which may take seconds.
  report.excludeNetwork = true
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

function linux(arch: Arch, libc: 'glibc' | 'musl', triple: string): Target {
  const folder = `linux-${arch}`
  return { name: `${folder}-${libc}`, folder, file: `graupel.${libc}.node`, platform: 'linux', arch, libc, triple }
}

function other(platform: 'darwin' | 'win32', arch: Arch, triple: string): Target {
  const folder = `${platform}-${arch}`
  return { name: folder, folder, file: 'graupel.node', platform, arch, triple }
}
