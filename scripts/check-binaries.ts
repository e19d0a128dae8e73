// Proves that a tarball, or the folder of a future tarball, has a binary for every target, and that each
// binary is for the target of its name: `npx tsx scripts/check-binaries.ts graupel-1.0.0.tgz`. Needs readelf
// (binutils) for the binaries of Linux. The release workflow runs it with Node alone: from 22.18 on, Node
// removes types that can be left out. npm runs it before it would publish a clone (`prepublishOnly`).
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { maxBytesOfBinary, oldestGlibc, type Target, targets } from './targets.ts'

// The place of the architecture in each format. ELF, System V ABI: e_machine; Mach-O, loader.h: cputype;
// PE/COFF: Machine.
const machines = {
  linux: { magic: 0x464c457f, x64: 62, arm64: 183 },
  darwin: { magic: 0xfeedfacf, x64: 0x01000007, arm64: 0x0100000c },
  win32: { magic: 0x00004550, x64: 0x8664, arm64: 0xaa64 },
}

/**
 * The libraries of the system that an addon may use. The C++ library is not among them, because it is linked
 * into the binary.
 */
const systemLibraries = {
  glibc: /^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|ld-linux-(x86-64|aarch64)\.so\.[12])$/,
  musl: /^libc\.so$/,
}

const [given, ...rest] = process.argv.slice(2)
if (given === undefined || rest.length > 0 || !existsSync(given)) {
  console.error('usage: npx tsx scripts/check-binaries.ts TARBALL|FOLDER')
  process.exit(2)
}

const faults: string[] = []
const isTarball = statSync(given).isFile()
const folder = isTarball ? mkdtempSync(join(tmpdir(), 'graupel-tarball-')) : given
try {
  if (isTarball) {
    execFileSync('tar', ['xzf', given, '-C', folder, '--strip-components=1'])
    console.log(`${given}: ${Math.ceil(statSync(given).size / 1024)} KiB`)
  }
  for (const target of targets) check(target)
  for (const name of strangers()) faults.push(`prebuilds/${name} belongs to no target of scripts/targets.ts`)
} finally {
  if (isTarball) rmSync(folder, { recursive: true, force: true })
}
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`all ${targets.length} targets have their binary`)

function check(target: Target): void {
  const name = `prebuilds/${target.folder}/${target.file}`
  const file = join(folder, name)
  if (!existsSync(file)) {
    faults.push(`${name} is missing`)
    return
  }
  const bytes = readFileSync(file)
  const found = machineFaults(target, bytes)
  if (found.length === 0 && target.libc) found.push(...elfFaults(target.libc, file))
  if (bytes.length > maxBytesOfBinary)
    found.push(`has ${bytes.length} bytes; at most ${maxBytesOfBinary} are published`)
  for (const fault of found) faults.push(`${name}: ${fault}`)
  console.log(`${found.length === 0 ? 'good' : 'BAD '}  ${name}, ${Math.ceil(bytes.length / 1024)} KiB`)
}

function machineFaults({ platform, arch }: Target, bytes: Buffer): string[] {
  if (bytes.length < 1024) return [`is ${bytes.length} bytes long`]
  const { magic, [arch]: machine } = machines[platform]
  // The word at 0x3c of a PE file is the place of the header.
  const at = platform === 'win32' && bytes.readUInt16LE(0) === 0x5a4d ? bytes.readUInt32LE(0x3c) : 0
  if (at + 20 > bytes.length || bytes.readUInt32LE(at) !== magic) return [`is no binary of ${platform}`]
  const found = {
    linux: () => bytes.readUInt16LE(18),
    darwin: () => bytes.readUInt32LE(4),
    win32: () => bytes.readUInt16LE(at + 4),
  }[platform]()
  return found === machine ? [] : [`is for machine 0x${found.toString(16)}; ${arch} is 0x${machine.toString(16)}`]
}

function elfFaults(libc: 'glibc' | 'musl', file: string): string[] {
  const readelf = (flags: string) =>
    execFileSync('readelf', [flags, file], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  const found = []
  for (const [, library = ''] of readelf('-dW').matchAll(/\(NEEDED\).*\[(.+)\]/g)) {
    if (!systemLibraries[libc].test(library)) found.push(`needs ${library}, which not every system with ${libc} has`)
  }
  const versions = [
    ...new Set([...readelf('-VW').matchAll(/\bGLIBC_(\d+)\.(\d+)/g)].map(([, major, minor]) => `${major}.${minor}`)),
  ]
  if (libc === 'musl' && versions.length > 0) found.push(`needs glibc ${versions.join(', ')}`)
  const tooNew = versions.filter((version) => Number(version.split('.')[1]) > Number(oldestGlibc.split('.')[1]))
  if (tooNew.length > 0) found.push(`needs glibc ${tooNew.join(', ')}; the oldest that is supported is ${oldestGlibc}`)
  if (/\.symtab|\.debug_/.test(readelf('-SW'))) found.push('is not stripped')
  return found
}

/** Lists the files in prebuilds/ that belong to no target. */
function strangers(): string[] {
  const known = targets.map((target) => join(target.folder, target.file))
  const all = existsSync(join(folder, 'prebuilds'))
    ? readdirSync(join(folder, 'prebuilds'), { recursive: true, encoding: 'utf8' })
    : []
  return all.filter((name) => !known.includes(name) && !targets.some((target) => target.folder === name))
}
