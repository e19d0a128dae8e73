// The targets that the published package carries a binary for. node-gyp-build finds them by these names of folders and
// files; `.github/workflows/binaries.yml` makes each of them, and `scripts/check-binaries.ts` asks for all.

type Arch = 'x64' | 'arm64'

export interface Target {
  /** What it is called in tables and on the command line. */
  name: string
  /** Below prebuilds/. */
  folder: string
  /** In that folder. Linux has two C libraries, so their names stand in it. */
  file: string
  /** As in `process.platform`. */
  platform: 'linux' | 'darwin' | 'win32'
  /** As in `process.arch`. */
  arch: Arch
  libc?: 'glibc' | 'musl'
  /** What Clang calls it. The oldest system that is supported stands in it. */
  triple: string
}

/** The oldest glibc that the binaries run on: that of RHEL 8 and Debian 10, which Node 20 itself needs. */
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

/** The target of the Node that runs this, if it is one. */
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
