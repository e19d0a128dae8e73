import { reasonOf } from '../core/errors.js'
import { denoPermissionFor } from '../host/system.js'
import type { Binding } from '../state/addon.js'
import type { NativeLoad } from './platform.js'

// Finds the native engine's binary: built in build/Release, or shipped in prebuilds/.

/**
 * Defined by scripts/bundle.ts. Sources that tests and scripts load without a bundle are in their own
 * package.
 */
declare const packageVersion: string | undefined
/** Defined in a bundle in CommonJS format. */
declare const __filename: string | undefined

const rebuild = 'build it with a C++ compiler (npx graupel build)'

type Failed = Extract<NativeLoad, { ok: false }>

/** The first binary that loads, or the reason why none does. */
export function loadBinding(): NativeLoad {
  const found = packageFolder()
  if (!('folder' in found)) return found
  const { folder } = found
  const require = createRequire(`${folder}/`)
  const isMusl = runsOnMusl()
  const failures: { file: string; cause: Error }[] = []
  /** The first that loads. */
  const load = (files: readonly string[]): NativeLoad | undefined => {
    for (const file of files) {
      try {
        if (isMusl) refuseGlibc(file)
        return { ok: true, binding: bindingIn(file, require), file }
      } catch (cause) {
        failures.push({ file, cause: cause as Error })
      }
    }
    return undefined
  }
  const usual = load(usualFile(folder, isMusl))
  if (usual !== undefined) return usual
  const tried = new Set(failures.map(({ file }) => file))
  const { files, failed } = candidates(folder, require)
  const other = load(files.filter((file) => !tried.has(file)))
  if (other !== undefined) return other
  const [first] = failures
  // Without a file to try, node-gyp-build has failed.
  if (first === undefined) return failed as Failed
  const reason = failures
    .map(({ file, cause }) => `the binary ${file} does not load: ${reasonOf(cause)}`)
    .join('; and ')
  return {
    ok: false,
    reason,
    remedy: permissionFor(first.cause) ?? rebuild,
    cause: first.cause,
    file: first.file,
  }
}

type Require = NodeJS.Require

/**
 * Returns what `require(file)` returns. It uses the cache of `require`, so that all copies of this code in a
 * thread have one binding, but does not resolve the path: that takes three times as long as loading the
 * binary.
 */
function bindingIn(file: string, require: Require): Binding {
  const { Module } = process.getBuiltinModule('node:module')
  const { toNamespacedPath } = process.getBuiltinModule('node:path')
  const loaded = require.cache[file]
  if (loaded?.loaded) return loaded.exports
  const module = new Module(file)
  process.dlopen(module, toNamespacedPath(file))
  module.filename = file
  module.loaded = true
  require.cache[file] = module
  return module.exports
}

/**
 * The binary that node-gyp-build would find, if it has its usual name: looking there first leaves out loading
 * node-gyp-build, which takes longer than loading the binary. None where a variable leads node-gyp-build to
 * another place.
 */
function usualFile(folder: string, isMusl: boolean): string[] {
  const { env, platform, arch } = process
  if (env['GRAUPEL_PREBUILD'] || env['PREBUILDS_ONLY']) return []
  const { join } = process.getBuiltinModule('node:path')
  const { existsSync } = process.getBuiltinModule('node:fs')
  const name = platform === 'linux' ? `graupel.${isMusl ? 'musl' : 'glibc'}.node` : 'graupel.node'
  const files = [join(folder, 'build/Release/graupel.node'), join(folder, 'prebuilds', `${platform}-${arch}`, name)]
  return files.filter((file) => existsSync(file)).slice(0, 1)
}

/**
 * The choice of node-gyp-build, and then all that is shipped for this platform. node-gyp-build takes each
 * Linux that is not Alpine for one with glibc, and it takes a binary in build/Release even if that was made
 * for another system, as in a folder that was copied into a container. Then one of the binaries that are
 * shipped fits.
 */
function candidates(folder: string, require: Require): { files: string[]; failed?: Failed } {
  const { join } = process.getBuiltinModule('node:path')
  const shipped = join(folder, 'prebuilds', `${process.platform}-${process.arch}`)
  const others = list(shipped)
    .filter((name) => name.endsWith('.node'))
    .map((name) => join(shipped, name))
  try {
    const finder: { resolve(folder: string): string } = require('node-gyp-build')
    return { files: [...new Set([finder.resolve(folder), ...others])] }
  } catch (cause) {
    return { files: others, failed: missing(folder, cause as Error) }
  }
}

function missing(folder: string, cause: Error & { code?: string }): Failed {
  const { join } = process.getBuiltinModule('node:path')
  const others = list(join(folder, 'prebuilds'))
  const there = others.length === 0 ? '' : `, which has some for ${others.join(', ')}`
  const reason = `no binary for ${process.platform} ${process.arch}, Node-API ${process.versions['napi']}, in ${folder}${there}`
  // A folder without the sources is a copy of a part of the package.
  const isPart = !process.getBuiltinModule('node:fs').existsSync(join(folder, 'native'))
  const remedy = isPart
    ? 'deploy the folders prebuilds and build of the package graupel, too (docs/platforms.md)'
    : rebuild
  return { ok: false, reason, remedy: permissionFor(cause) ?? remedy, cause }
}

/** The messages of glibc and of musl if the system does not let the code of a file run. */
const mayNotRun = /failed to map segment from shared object|: Operation not permitted$/

/** Returns the remedy if a flag of the runtime, or a mount, keeps the binary from being loaded. */
function permissionFor(error: Error & { code?: string }): string | undefined {
  if (mayNotRun.test(error.message)) {
    return 'mount its file system without noexec, or install graupel in a folder whose programs may run'
  }
  if (error.code !== 'ERR_DLOPEN_DISABLED') return denoPermissionFor(error)
  // The permission model has the same error. The types of this Node do not know it.
  const hasModel = (process as { permission?: unknown }).permission !== undefined
  return hasModel ? 'start Node with --allow-addons, and without --no-addons' : 'start Node without --no-addons'
}

/**
 * Returns the folder of this package: the folder above this file, which is dist/core.js. If a bundler has put
 * the code elsewhere, or it runs from src, it is the folder that Node finds there by the package's name,
 * which takes 2 ms more.
 */
function packageFolder(): { folder: string } | Failed {
  const { dirname, isAbsolute, join } = process.getBuiltinModule('node:path')
  const seen = new Set<string>()
  let otherVersion: string | undefined
  let cause: unknown
  for (const findFile of [ownFile, mainProgram]) {
    let file: string
    try {
      file = findFile()
      if (!isAbsolute(file)) throw new Error(`'${file}' is no absolute path`)
    } catch (error) {
      // The code came from no file, or from a file of another system.
      cause = error
      continue
    }
    seen.add(file)
    const folders = [
      () => join(dirname(file), '..'),
      () => dirname(createRequire(file).resolve('graupel/package.json')),
    ]
    for (const folderOf of folders) {
      try {
        const folder = folderOf()
        const { name, version } = readManifest(folder)
        if (name !== 'graupel') continue
        // The two halves of the package, the TypeScript in a bundle and the binary, have to be of one
        // version.
        if (typeof packageVersion === 'undefined' || version === packageVersion) return { folder }
        otherVersion = `the graupel in ${folder} is version ${version}, and this is ${packageVersion}`
      } catch (error) {
        cause = error
      }
    }
  }
  const from = seen.size === 0 ? 'code that is in no file' : [...seen].join(' or ')
  return {
    ok: false,
    reason: `graupel is bundled, and its package, in which the binary is, ${otherVersion === undefined ? `cannot be found from ${from}` : `does not fit: ${otherVersion}`}`,
    remedy: 'deploy node_modules/graupel with the bundle, or tell the bundler to leave graupel external',
    cause,
  }
}

/** Read here, because `require` takes 1 ms more: it resolves the path, and keeps a module. */
function readManifest(folder: string): { name?: string; version?: string } {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
}

function createRequire(file: string): Require {
  return process.getBuiltinModule('node:module').createRequire(file)
}

function list(folder: string): string[] {
  try {
    return process.getBuiltinModule('node:fs').readdirSync(folder)
  } catch {
    return []
  }
}

function ownFile(): string {
  // A bundle in CommonJS format has no `import.meta.url`. webpack puts in the one that this file had when it
  // was bundled.
  const url = import.meta.url as string | undefined
  if (url !== undefined) return process.getBuiltinModule('node:url').fileURLToPath(url)
  if (typeof __filename === 'string') return __filename
  throw new Error('this code has no file')
}

function mainProgram(): string {
  return process.argv[1] ?? ''
}

/** Reads the loader that the running program names at its beginning (ELF, PT_INTERP). */
function runsOnMusl(): boolean {
  if (process.platform !== 'linux') return false
  const { closeSync, openSync, readSync } = process.getBuiltinModule('node:fs')
  try {
    const head = Buffer.alloc(4096)
    const fd = openSync(process.execPath, 'r')
    readSync(fd, head, 0, head.length, 0)
    closeSync(fd)
    return head.includes('/ld-musl-')
  } catch {
    return false
  }
}

/** Musl takes glibc's names for its own, so that a binary for glibc may load, and fail when it runs. */
function refuseGlibc(file: string): void {
  if (process.getBuiltinModule('node:fs').readFileSync(file).includes('libc.so.6\0')) {
    throw new Error('it is made for glibc, and this system has musl')
  }
}
