import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { engineInfo } from 'graupel'
import { inject } from 'vitest'
import { ownTarget } from '../../scripts/targets.ts'
import { repository } from '../support/documents.ts'
import { install, node, npm, packageFolder } from './consumer.ts'

const target = ownTarget()
if (target === undefined) throw new Error(`no binary is published for ${process.platform} ${process.arch}`)

/** The path of this platform's binary in the package. */
export const binaryPath = `prebuilds/${target.folder}/${target.file}`

/** The most bytes and files of the package, unpacked and without binaries. */
export const most = { bytes: 2_300_000, files: 249 }

/** Packs this repository as `npm publish` would, but without binaries. */
export function pack(folder: string): string {
  return packCopy(folder, ['pack'])
}

/** Packs the service as a fresh clone would, which has not built it. */
export function packService(folder: string): string {
  return packCopy(folder, ['pack', '--workspace=server'])
}

function packCopy(folder: string, command: string[]): string {
  const copy = copyOfClone(folder)
  npm(copy, [...command, '--pack-destination', folder])
  rmSync(copy, { recursive: true, force: true })
  return tarballIn(folder)
}

/**
 * Copies this repository without binaries and without the built service into a new folder. npm packs the
 * copy, because packing changes files that other tests load meanwhile. The copy has a fresh `dist`, so
 * packing does not build the library again.
 */
export function copyOfClone(folder: string): string {
  const built = node(repository, ['--import', 'tsx', 'scripts/build.ts', 'library', 'types'])
  if (built.status !== 0) throw new Error(`the build ended with ${built.signal ?? built.status}:\n${built.stderr}`)
  const copy = mkdtempSync(join(folder, 'copy '))
  // Other tests make and remove folders in `dist`, whose names end with six letters.
  const isTemporary = (path: string) => /^dist[\\/]([a-z]+-\w{6}|\.lock)$/.test(relative(repository, path))
  const isLeftOut = (path: string) =>
    basename(path) === 'node_modules' || path === join(repository, 'server/dist') || isTemporary(path)
  for (const name of readdirSync(repository)) {
    if (/^(node_modules|build|prebuilds|\..*)$/.test(name)) continue
    cpSync(join(repository, name), join(copy, name), { recursive: true, filter: (path) => !isLeftOut(path) })
  }
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'), 'junction')
  return copy
}

/** Returns the package without binaries, which is packed once in a run. */
export function bareTarball(): string {
  return once('graupel.tgz', pack)
}

/** Returns this platform's binary as it is published. It is compiled once in a run, unless it is given. */
export function publishedBinary(): string {
  const given = process.env['GRAUPEL_TEST_BINARY']
  return (
    given ??
    once('graupel.node', (folder) => {
      const args = ['--import', 'tsx', 'scripts/binaries.ts', '--out', folder]
      const done = node(repository, args, { CXXFLAGS: undefined })
      if (done.status !== 0) {
        throw new Error(`${args.join(' ')} ended with ${done.signal ?? done.status}:\n${done.stdout}${done.stderr}`)
      }
      return join(folder, binaryPath)
    })
  )
}

/**
 * Makes a project and installs the package with the tests' binary. Returns the path of the binary. No script
 * runs.
 */
export function installWithBinary(folder: string): string {
  const { file, reason } = engineInfo()
  if (file === undefined) throw new Error(`no binary: ${reason}`)
  install(folder, bareTarball(), ['--ignore-scripts'])
  return putBinary(folder, (place) => copyFileSync(file, place))
}

/** Puts a file in the place of this platform's binary in an installed package. */
export function putBinary(project: string, put: (place: string) => void): string {
  const place = join(packageFolder(project), binaryPath)
  mkdirSync(dirname(place), { recursive: true })
  put(place)
  return place
}

/** Makes another tarball in the folder, with the same content except the changes of `change`. */
export function repack(tarball: string, folder: string, change: (content: string) => void): string {
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['xzf', tarball, '-C', folder])
  const content = join(folder, 'package')
  change(content)
  npm(content, ['pack', '--ignore-scripts', '--pack-destination', folder])
  rmSync(content, { recursive: true, force: true })
  return tarballIn(folder)
}

export function tarballIn(folder: string): string {
  const name = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`there is no tarball in ${folder}`)
  return join(folder, name)
}

export function filesInTarball(tarball: string): string[] {
  return execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).trim().split(/\r?\n/)
}

/**
 * Returns a file in the shared folder. The first test file that needs it makes it by `make`, which returns
 * its path.
 */
function once(name: string, make: (folder: string) => string): string {
  const file = join(inject('sharedFolder'), name)
  if (!existsSync(file)) {
    const draft = mkdtempSync(join(inject('sharedFolder'), 'draft '))
    renameSync(make(draft), file)
    rmSync(draft, { recursive: true, force: true })
  }
  return file
}
