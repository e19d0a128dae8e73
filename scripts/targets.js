// What the published package carries a binary for. The names of folders and files are those by which node-gyp-build
// finds them; `.github/workflows/prebuild.yml` makes each of them, and `scripts/check-binaries.js` asks for all.

/**
 * @typedef {object} Target
 * @property {string} name - What it is called in tables and on the command line.
 * @property {string} folder - Below prebuilds/.
 * @property {string} file - In that folder. Linux has two C libraries, so their names stand in it.
 * @property {'linux' | 'darwin' | 'win32'} platform - As in `process.platform`.
 * @property {'x64' | 'arm64'} arch - As in `process.arch`.
 * @property {'glibc' | 'musl'} [libc]
 * @property {string} triple - What a Clang, such as zig's, calls it. The oldest system that is supported stands in it.
 */

/** The oldest glibc that the binaries run on: of RHEL 8 and Debian 10, and what Node 20 itself asks for. */
export const oldestGlibc = '2.28'

/** @type {readonly Target[]} */
export const targets = [
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
 * The target of the Node that runs this, if it is one.
 *
 * @returns {Target | undefined}
 */
export function ownTarget() {
  const { platform, arch } = process
  const libc = platform === 'linux' ? ownLibc() : undefined
  return targets.find((target) => target.platform === platform && target.arch === arch && target.libc === libc)
}

/** @returns {'glibc' | 'musl'} */
function ownLibc() {
  const report = /** @type {NodeJS.ProcessReport & { excludeNetwork: boolean }} */ (process.report)
  // Looking up the names of this host's addresses, which may take seconds, would be a part of it otherwise.
  report.excludeNetwork = true
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (report.getReport())
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

/**
 * @param {'x64' | 'arm64'} arch
 * @param {'glibc' | 'musl'} libc
 * @param {string} triple
 * @returns {Target}
 */
function linux(arch, libc, triple) {
  const [folder, file] = [`linux-${arch}`, `graupel.${libc}.node`]
  return { name: `${folder}-${libc}`, folder, file, platform: 'linux', arch, libc, triple }
}

/**
 * @param {'darwin' | 'win32'} platform
 * @param {'x64' | 'arm64'} arch
 * @param {string} triple
 * @returns {Target}
 */
function other(platform, arch, triple) {
  const folder = `${platform}-${arch}`
  return { name: folder, folder, file: 'graupel.node', platform, arch, triple }
}
