import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { engineInfo } from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownTarget } from '../../scripts/targets.ts'
import { repository } from '../support/documents.ts'
import { engines } from '../support/engines.js'
import { describeWith, withMounts } from '../support/needs.ts'
import { copyPackage } from '../support/package-copy.ts'

// The warning and the errors for each reason why the native engine is missing. The package is a copy, because
// the clone may have binaries in several places.

let temporary: string
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'graupel-'))
})
afterAll(() => rmSync(temporary, { recursive: true }))

/** Makes a project in which graupel is installed without a binary, or with a broken binary. */
function project({
  hasFinder = true,
  hasSources = true,
  binary,
}: {
  hasFinder?: boolean
  hasSources?: boolean
  binary?: string | Buffer
} = {}): string {
  const folder = mkdtempSync(join(temporary, 'project-'))
  const place = join(folder, 'node_modules/graupel')
  if (hasSources) mkdirSync(join(place, 'native'), { recursive: true })
  copyPackage(place)
  if (hasFinder) {
    const finder = 'node_modules/node-gyp-build'
    cpSync(join(repository, finder), join(folder, finder), { recursive: true })
  }
  if (binary !== undefined) {
    const shipped = join(place, 'prebuilds', `${process.platform}-${process.arch}`)
    mkdirSync(shipped, { recursive: true })
    writeFileSync(join(shipped, 'graupel.node'), binary)
  }
  return folder
}

/** Makes a project in which graupel is installed with a binary that loads. */
function projectWithBinary(): string {
  return project({ binary: readFileSync(engineInfo().file as string) })
}

/** Returns the warning, and the errors of three ways to require the native engine. */
function said(cwd: string, flags: readonly string[] = [], before = '', within = (command: string[]) => command) {
  const script = `
    import { createGenerator } from 'graupel'
    process.removeAllListeners('warning')
    const warnings = []
    process.on('warning', ({ code, message }) => code === 'GRAUPEL_JS_ENGINE' && warnings.push(message))
    ${before}
    const attempt = (options) => { try { createGenerator({ node: 1, ...options }) } catch ({ code, message }) { return code + ': ' + message } }
    const out = { engine: attempt({ engine: 'native' }), state: attempt({ state: 'host' }) }
    process.env.GRAUPEL_ENGINE = 'native'
    out.variable = attempt({})
    delete process.env.GRAUPEL_ENGINE
    attempt({})
    setImmediate(() => console.log(JSON.stringify({ ...out, warnings })))`
  const [command = '', ...words] = within([process.execPath, ...flags, '--input-type=module', '-e', script])
  const { stdout, stderr } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GRAUPEL_ENGINE: undefined },
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Expects the reason once in each text, followed by the remedy. */
function expectAdvice(out: ReturnType<typeof said>, reason: string | RegExp, remedy: string): void {
  const text = typeof reason === 'string' ? reason.replace(/[.+()[\]\\]/g, '\\$&') : reason.source
  const cannot = `and the native engine cannot be loaded: ${text}; ${remedy.replace(/[+()]/g, '\\$&')}$`
  const matching = (pattern: string) => expect.stringMatching(new RegExp(pattern))
  expect(out).toEqual({
    engine: matching(`^ERR_NATIVE_UNAVAILABLE: engine is 'native', ${cannot}`),
    state: matching(`^ERR_NATIVE_UNAVAILABLE: state is 'host', ${cannot}`),
    variable: matching(`^ERR_NATIVE_UNAVAILABLE: GRAUPEL_ENGINE is 'native', ${cannot}`),
    warnings: [
      matching(
        `^graupel runs on its TypeScript engine: ${text}; ${remedy.replace(/[+()]/g, '\\$&')}, or set GRAUPEL_ENGINE=js to have it without this warning$`,
      ),
    ],
  })
}

const compiler = 'build it with a C++ compiler (npx graupel build)'

describe('without the native engine', () => {
  it('for lack of a binary, a compiler is advised', () => {
    expectAdvice(said(project()), /no binary for \w+ \w+, Node-API \d+, in \S+[\\/]graupel/, compiler)
  })

  it('for a broken binary, a compiler is advised', () => {
    expectAdvice(said(project({ binary: 'none' })), /the binary \S+graupel\.node does not load: .*[^.]/, compiler)
  })

  it('for lack of a binary and of node-gyp-build, a compiler is advised', () => {
    expectAdvice(
      said(project({ hasFinder: false })),
      /no binary for \w+ \w+, Node-API \d+, in \S+[\\/]graupel/,
      compiler,
    )
  })

  it('in a copy of the package without binaries and sources, the folders to deploy are named', () => {
    expectAdvice(
      said(project({ hasFinder: false, hasSources: false })),
      /no binary for \w+ \w+, Node-API \d+, in \S+[\\/]graupel/,
      'deploy the folders prebuilds and build of the package graupel, too (docs/platforms.md)',
    )
  })
})

describe.runIf(engines.includes('native'))('the binary', () => {
  const modules = `
    import { createRequire } from 'node:module'
    import { engineInfo } from 'graupel'
    const { kind, file } = engineInfo()
    const usesFinder = Object.keys(createRequire(import.meta.url).cache).some((name) => name.includes('node-gyp-build'))
    console.log(JSON.stringify({ kind, file, usesFinder }))`
  const built = engineInfo().file as string
  const shippedIn = `prebuilds/${process.platform}-${process.arch}`

  it.each([
    ['in the folder of builds is loaded at once', 'build/Release/graupel.node', false],
    ['in the folder of shipped binaries is loaded at once', `${shippedIn}/${ownTarget()?.file}`, false],
    ['by another name is found by node-gyp-build', `${shippedIn}/node.napi.node`, true],
  ])('%s', (_, name, usesFinder) => {
    const folder = project()
    const binary = join(folder, 'node_modules/graupel', name)
    mkdirSync(dirname(binary), { recursive: true })
    cpSync(built, binary)
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', modules], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GRAUPEL_ENGINE: undefined, GRAUPEL_PREBUILD: undefined, PREBUILDS_ONLY: undefined },
    })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({ kind: 'native', file: realpathSync(binary), usesFinder })
  })
})

describe.runIf(engines.includes('native'))('if the runtime does not load the existing binary', () => {
  const disabled = /the binary \S+\.node does not load: Cannot load native addon because loading addons is disabled/

  it('because of --no-addons, running without that flag is advised', () => {
    expectAdvice(said(projectWithBinary(), ['--no-addons']), disabled, 'start Node without --no-addons')
  })

  it('because of the permission model, --allow-addons is advised', () => {
    const [major = 0] = process.versions.node.split('.').map(Number)
    const flag = major < 24 ? '--experimental-permission' : '--permission'
    const out = said(projectWithBinary(), [flag, '--allow-fs-read=*'])
    expectAdvice(out, disabled, 'start Node with --allow-addons, and without --no-addons')
  })

  it('because Deno may not load it, the flag that Deno names is advised', () => {
    const message = 'Requires ffi access to "graupel.node", run again with the --allow-ffi flag'
    const deno = `process.dlopen = () => { throw new Error(${JSON.stringify(message)}) }`
    expectAdvice(
      said(projectWithBinary(), [], deno),
      new RegExp(`the binary \\S+\\.node does not load: ${message}`),
      'start Deno with --allow-ffi',
    )
  })
})

describeWith(['native', 'linux', 'mounts'], 'on a file system that is mounted noexec', () => {
  it('another mount or folder is advised, and no compiler', () => {
    const folder = realpathSync(project())
    const binary = join(folder, 'node_modules/graupel/build/Release/graupel.node')
    mkdirSync(dirname(binary), { recursive: true })
    cpSync(engineInfo().file as string, binary)
    const mounts = `mount --bind '${folder}' '${folder}'; mount -o remount,bind,noexec '${folder}'`
    expectAdvice(
      said(folder, [], '', (command) => withMounts(`${mounts}; cd '${folder}'`, command)),
      /the binary \S+\.node does not load: \S+: failed to map segment from shared object/,
      'mount its file system without noexec, or install graupel in a folder whose programs may run',
    )
  })
})
