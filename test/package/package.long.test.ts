import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { createMask } from 'graupel/mask'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesIn } from '../../scripts/bundle.ts'
import { manual } from '../../scripts/manual.ts'
import { repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { copyProject, node, npm, packageFolder, run, temporaryFolder } from './consumer.ts'
import { bareTarball, filesInTarball, installWithBinary, most } from './tarball.ts'

// The package as it is published: packed, installed in another project, and loaded there.

const folder = temporaryFolder()
const project = join(folder, 'project')
const { exports } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
/** The entries that programs import: `graupel` and the names below it. */
const entries = Object.keys(exports)
  .filter((name) => name !== './package.json')
  .map((name) => posix.join('graupel', name))
const bareProject = join(folder, 'bare')
/** A project that has the peer of `graupel/mask`, too. */
const withPeer = join(folder, 'with peer')
/** The js engine refuses a node that another process holds, so it gets a folder that only these tests use. */
const ownStates = { GRAUPEL_STATE_FOLDER: join(folder, 'states') }
type Conditions = Partial<Record<'import' | 'require', { types: string; default: string }>>
let tarball: string
let binary: string

const engineOf = `const { engineInfo } = await import('graupel'); const { kind, file, reason } = engineInfo(); return { kind, file, reason }`
const thousandIds = `const { createGenerator } = await import('graupel')
  return new Set(createGenerator({ node: 7 }).take(1000)).size`
/** The engine, and the number of different ids among a thousand. */
const engineAndIds = `return [await (async () => { ${engineOf} })(), await (async () => { ${thousandIds} })()]`

beforeAll(() => {
  tarball = bareTarball()
  binary = installWithBinary(project)
  mkdirSync(ownStates.GRAUPEL_STATE_FOLDER)
  copyProject(project, bareProject)
  rmSync(join(packageFolder(bareProject), 'prebuilds'), { recursive: true })
  copyProject(project, withPeer)
  cpSync(join(repository, 'node_modules/@noble'), join(withPeer, 'node_modules/@noble'), { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeWith(['native'], 'the tarball', () => {
  test('contains the files for running and building, and nothing else', () => {
    const folders = new Set(filesInTarball(tarball).map((file) => file.split('/').slice(1, 3).join('/')))
    for (const needed of [
      'dist/index.js',
      'dist/index.d.ts',
      'dist/stores',
      'native/sources.json.br',
      'native/LICENSE.node-addon-api.md',
      'LICENSE',
    ])
      expect(folders).toContain(needed)
    const strangers = [...folders].filter(
      (name) => !/^(dist|docs|examples|native|prebuilds|skills)\/|^[\w.-]+$/.test(name),
    )
    expect(strangers).toEqual([])
    expect(filesInTarball(tarball).filter((file) => /\b(test|bench|build|node_modules)\b|\.tgz$/.test(file))).toEqual(
      [],
    )
    expect([...folders]).not.toContain('binding.gyp')
    const { scripts, gypfile, workspaces } = JSON.parse(
      readFileSync(join(packageFolder(project), 'package.json'), 'utf8'),
    )
    expect(Object.keys(scripts).filter((name) => /install|^prepare/.test(name))).toEqual([])
    expect({ gypfile, workspaces }).toEqual({ gypfile: false, workspaces: undefined })
    // A fifth of the tarball is documents and examples.
    expect(statSync(tarball).size).toBeLessThan(1.25 * 1024 * 1024)
  })

  test('has at most 2.3 MB in 249 files, unpacked and without binaries', () => {
    const folder = packageFolder(bareProject)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
    expect(files.length).toBeLessThanOrEqual(most.files)
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(most.bytes)
  })

  test('contains every file to which its README and documents link, except what it leaves out', () => {
    const root = packageFolder(project)
    const leftOut =
      /^(bench|examples\/orms|server)\/|^docs\/(api|architecture|availability|benchmarks|comparison|how-it-works|ledger|moving-\w+|moving-from-npm|memory-order|model|page|redis-protocol|service.*|[a-z]+-proof)\.md$|^(CHANGELOG\.md|CONTRIBUTING\.md|examples\/maelstrom\.mjs)$/
    const documents = filesInTarball(tarball)
      .map((file) => file.slice('package/'.length))
      .filter((file) => file.endsWith('.md'))
    expect(documents).toEqual(
      expect.arrayContaining([
        'README.md',
        'docs/errors.md',
        'docs/leases.md',
        'examples/README.md',
        'skills/graupel/SKILL.md',
      ]),
    )
    for (const document of documents) {
      for (const [, link = ''] of readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
        const target = posix.join(posix.dirname(document), link)
        const place = leftOut.test(target) ? repository : root
        expect(existsSync(join(place, target)), `${document} links to ${link}`).toBe(true)
      }
    }
  })

  test('contains every file to which the documents in the package of the service link, or that package does', () => {
    const docs = join(repository, 'server/dist/docs')
    const documents = readdirSync(docs).filter((name) => name.endsWith('.md'))
    expect(documents).toEqual(manual.filter((file) => file.endsWith('.md')).map((file) => posix.basename(file)))
    // npm puts both packages beside each other.
    const placeOf = (link: string) =>
      link.startsWith('../../../graupel/')
        ? join(packageFolder(project), link.slice('../../../graupel/'.length))
        : join(docs, link)
    for (const document of documents) {
      const text = readFileSync(join(docs, document), 'utf8')
      for (const [, link = ''] of text.matchAll(/(?:\]\(|srcset="|src=")(?!https?:|#)([^)#"]+)/g))
        expect(existsSync(placeOf(link)), `${document} links to ${link}`).toBe(true)
    }
  })

  test('needs nothing but node-gyp-build', () => {
    const { dependencies } = JSON.parse(npm(project, ['ls', '--omit=dev', '--all', '--json', '--loglevel=error']))
    type Listed = Record<string, { version?: string; dependencies?: object }>
    // An optional peer that is not installed is listed, too, without a version.
    const installed = (all: Listed) => Object.entries(all).filter(([, { version }]) => version !== undefined)
    const names = (all: Listed): unknown =>
      installed(all).map(([name, one]) => [name, names((one.dependencies ?? {}) as Listed)])
    expect(names(dependencies)).toEqual([['graupel', [['node-gyp-build', []]]]])
  })
})

describeWith(['native'], 'an installed package', () => {
  test.each(['graupel', 'graupel/kind', 'graupel/mask', 'graupel/testing', 'graupel/uuid'])(
    'compiles a program with %s without the types of Node or of browsers',
    (entry) => {
      const own = join(folder, entry)
      mkdirSync(own, { recursive: true })
      writeFileSync(join(own, 'consumer.ts'), `import type {} from '${entry}'\n`)
      const compilerOptions = { ...{ noEmit: true, strict: true, lib: ['es2022'], types: [] }, module: 'nodenext' }
      const paths = { [entry]: [join(packageFolder(project), exports[entry.replace('graupel', '.')].import.types)] }
      writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, paths } }))
      const { stdout } = node(own, [join(repository, 'node_modules/typescript/bin/tsc'), '-p', '.'])
      expect(stdout).toBe('')
    },
  )

  test('can be imported', () => {
    expect(run(project, engineAndIds)).toEqual({ result: [{ kind: 'native', file: binary }, 1000], warnings: [] })
  })

  test('can be required, as CommonJS', () => {
    const program = "console.log(new Set(require('graupel').createGenerator({ node: 7 }).take(1000)).size)"
    const args = ['--no-experimental-require-module', '--input-type=commonjs', '-e', program]
    expect(node(project, args)).toMatchObject({ stdout: '1000\n', stderr: '' })
  })

  test('loads at most three files for graupel and four for another entry, and has each module once', () => {
    const { imports } = JSON.parse(readFileSync(join(packageFolder(project), 'package.json'), 'utf8'))
    const loads = /^(?:import|export)\b[^'"]*?["']([^'"]+)["']|\brequire\("([^"]+)"\)/gm
    const loadedBy = (file: string, platform: string, seen = new Set<string>()) => {
      seen.add(file)
      const text = readFileSync(join(packageFolder(project), file), 'utf8')
      for (const [whole, imported, required] of text.matchAll(loads)) {
        const target = imported ?? required ?? ''
        // A store that a URL names is loaded when it is opened.
        if (text.includes(`Promise.resolve().then(() => ${whole})`) || !/^[.#]/.test(target)) continue
        // On Node, `#cipher` leads to the same file.
        const next = /^#(platform|cipher)$/.test(target) ? platform : posix.join(file, '..', target)
        if (!seen.has(next)) loadedBy(next, platform, seen)
      }
      return seen
    }
    const { require, default: esm } = imports['#platform']
    for (const { import: imported, require: required } of Object.values<Conditions>(exports)) {
      if (imported === undefined || required === undefined) continue
      for (const [file, platform] of [
        [imported.default, esm],
        [required.default, require.default],
      ]) {
        const files = [...loadedBy(posix.normalize(file), posix.normalize(platform))]
        const most = /^\.\/dist\/index\.c?js$/.test(file) ? 3 : 4
        expect(files.length, files.join(', ')).toBeLessThanOrEqual(most)
      }
    }
    // The maps of the clone tell which modules are in a file.
    const sources = filesInTarball(tarball)
      .filter((file) => /^package\/dist\/.*\.js$/.test(file))
      .map((file) => `${file.replace(/^package\//, '')}.map`)
      // A file that only exports from others has no map.
      .filter((map) => existsSync(join(repository, map)))
      .flatMap((map) => {
        const { sources } = JSON.parse(readFileSync(join(repository, map), 'utf8'))
        return (sources as string[]).map((source) => posix.join(map, '..', source))
      })
    expect(sources.length).toBeGreaterThan(100)
    expect(new Set(sources).size).toBe(sources.length)
  })

  test('has no source map, and names none', () => {
    const files = filesInTarball(tarball).map((file) => file.replace(/^package\//, ''))
    const text = (file: string) => readFileSync(join(packageFolder(project), file), 'utf8')
    const codes = files.filter((file) => /^dist\/.*\.c?js$/.test(file))
    expect(codes.length).toBeGreaterThan(40)
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
    expect(codes.filter((file) => /^\/\/# sourceMappingURL=/m.test(text(file)))).toEqual([])
  })

  test('without a binary runs on the TypeScript engine, with one warning', () => {
    const { result, warnings } = run(bareProject, thousandIds, ownStates)
    expect(result).toBe(1000)
    expect(warnings).toEqual([{ code: 'GRAUPEL_JS_ENGINE', message: expect.stringContaining('no binary for') }])
  })
})

describeWith(['native'], 'the declarations', () => {
  const isDeclaration = (file: string) => /\.d\.c?ts$/.test(file)
  const text = (file: string) => readFileSync(join(packageFolder(project), file), 'utf8')
  const forms = Object.values<Conditions>(exports).flatMap((one) => [one.import ?? [], one.require ?? []].flat())

  const shared = ['dist/core.d.cts', 'dist/shared.d.cts']

  test('of an entry are one file for each form, beside two files of what entries share', () => {
    const paths = [...forms.map(({ types }) => posix.normalize(types)), ...shared]
    const files = filesInTarball(tarball).map((file) => file.replace(/^package\//, ''))
    expect(files.filter(isDeclaration).sort()).toEqual(paths.sort())
  })

  test('have each export once, with its docstring, so it is the same type in all entries and both forms', () => {
    const files = filesIn(packageFolder(project)).filter(isDeclaration)
    const isExport = new Set<string>()
    /** For each name the files that declare it, with the line before. */
    const found = new Map<string, Map<string, string>>()
    for (const file of files) {
      const lists = shared.includes(file) ? [] : text(file).matchAll(/^export (?:type )?\{ (.*) \}/gm)
      for (const [, names = ''] of lists) for (const name of names.split(', ')) isExport.add(name.replace('type ', ''))
      const declarations = /^(.*)\n(?:declare )?(?:class|const|function|interface|type) (\w+)/gm
      for (const [, before = '', name = ''] of text(file).matchAll(declarations)) {
        const places = found.get(name) ?? new Map()
        // A function with several signatures has the docstring before the first.
        found.set(name, places.set(file, places.get(file) ?? before))
      }
    }
    expect([...isExport]).toEqual(expect.arrayContaining(['GraupelError', 'Layout', 'Lease', 'Store']))
    for (const name of isExport) {
      expect([...(found.get(name) ?? [])], name).toEqual([[expect.any(String), expect.stringMatching(/\*\/$/)]])
    }
  })

  test('export no class that is not in the JavaScript', () => {
    const files = filesIn(packageFolder(project)).filter(isDeclaration)
    const classes = files.flatMap((file) => [...text(file).matchAll(/^declare class (\w+)/gm)].map(([, name]) => name))
    const values = files
      .filter((file) => !shared.includes(file))
      .flatMap((file) =>
        [...text(file).matchAll(/^export \{ (.*) \}/gm)].flatMap(([, names = '']) => names.split(', ')),
      )
    expect(new Set(values.filter((name) => classes.includes(name)))).toEqual(new Set(['GraupelError']))
  })
})

describeWith(['native'], 'each entry', () => {
  // All entries in one process, because a process takes longer than most entries.
  let forms: Record<string, { isTwoFiles: boolean; names: string[][] } | { error: string }>
  beforeAll(() => {
    const body = `const { createRequire } = await import('node:module')
      const names = (all) => Object.keys(all).filter((name) => name !== 'module.exports').sort()
      const formsOf = async (entry) => {
        const forms = [await import(entry), createRequire(process.cwd() + '/')(entry)]
        return { isTwoFiles: forms[0] !== forms[1], names: forms.map(names) }
      }
      const all = {}
      for (const entry of ${JSON.stringify(entries)}) {
        all[entry] = await formsOf(entry).catch((error) => ({ error: String(error) }))
      }
      return all`
    forms = run(project, body, {}, ['--no-experimental-require-module']).result as typeof forms
  })

  test.each(entries)('%s has the same exports for import and require', (entry) => {
    const first = entry.includes('/stores') ? [expect.stringMatching(/^(\w+Store|storeContract)$/)] : expect.any(Array)
    expect(forms[entry]).toEqual({ isTwoFiles: true, names: [first, expect.any(Array)] })
    const { names } = forms[entry] as { names: string[][] }
    expect(names[0]).toEqual(names[1])
  })

  test('of a store loads no binary, and is small', () => {
    const body = (names: string[]) => `process.dlopen = () => { throw new Error('a binary was loaded') }
      for (const name of ${JSON.stringify(names)}) await import(name)
      return (await import('graupel/stores')).memoryStore().name`
    const stores = entries.filter((entry) => entry.includes('/stores'))
    expect(stores.length).toBeGreaterThan(5)
    expect(run(project, body(stores), { GRAUPEL_ENGINE: 'native' })).toEqual({ result: 'memory', warnings: [] })
    for (const entry of stores) {
      const file = exports[entry.replace('graupel', '.')].import.default
      expect(statSync(join(packageFolder(project), file)).size).toBeLessThan(36 * 1024)
    }
  })

  test('of a store throws errors of the class that `graupel` exports', () => {
    const body = `const { GraupelError } = await import('graupel')
      const { sqliteStore } = await import('graupel/stores/sqlite')
      const careless = { exec() {}, prepare: () => ({ all: () => [{ synchronous: 1 }] }) }
      return sqliteStore(careless).read('a/1').catch((error) => [error instanceof GraupelError, error.code])`
    expect(run(project, body).result).toEqual([true, 'ERR_STORE_UNSAFE'])
  })
})

describeWith(['native'], 'graupel/testing', () => {
  test('makes the same ids in both forms, and loads no binary', () => {
    const body = `process.dlopen = () => { throw new Error('a binary was loaded') }
      const { createRequire } = await import('node:module')
      const forms = [await import('graupel/testing'), createRequire(process.cwd() + '/')('graupel/testing')]
      return forms.map(({ testGenerator }) => testGenerator().next())`
    const id = '2006515713438646272'
    expect(run(project, body, { GRAUPEL_ENGINE: 'native' })).toEqual({ result: [id, id], warnings: [] })
    expect(run(bareProject, body)).toEqual({ result: [id, id], warnings: [] })
  })
})

describeWith(['native'], 'graupel/mask', () => {
  test.each([
    ['import', 'module', "import 'graupel/mask'", "Cannot find package '@noble/ciphers' imported from"],
    ['require', 'commonjs', "require('graupel/mask')", "Cannot find module '@noble/ciphers/aes.js'"],
  ])('for browsers without its peer names it to %s', (_form, type, program, message) => {
    const { status, stderr } = node(project, ['--conditions=browser', `--input-type=${type}`, '-e', program])
    expect(status).toBe(1)
    expect(stderr).toContain(message)
  })

  test('hides the same with the AES of Node and of its peer, in both forms', () => {
    const body = `const { createRequire } = await import('node:module')
      const key = Uint8Array.from({ length: 32 }, (_, i) => i)
      return [await import('graupel/mask'), createRequire(process.cwd() + '/')('graupel/mask')].map((form) =>
        [Object.keys(form).filter((name) => name !== 'module.exports'), form.createMask(key).hideString(5n)])`
    const text = createMask(Uint8Array.from({ length: 32 }, (_, i) => i)).hideString(5n)
    const form = [['aes', 'createMask'], text]
    expect(run(project, body)).toEqual({ result: [form, form], warnings: [] })
    for (const condition of ['browser', 'edge-light', 'workerd']) {
      expect(run(withPeer, body, {}, [`--conditions=${condition}`])).toEqual({ result: [form, form], warnings: [] })
    }
  })
})

describeWith(['native'], 'graupel/kind', () => {
  const conditions = ['browser', 'edge-light', 'react-native', 'workerd']

  test.each(conditions)('under the condition %s needs no peer without keys, and refuses keys', (condition) => {
    const body = `const { createRequire } = await import('node:module')
      const { layouts } = await import('graupel')
      const keys = { a: Uint8Array.from({ length: 32 }, (_, i) => i) }
      const refusal = (define) => { try { define() } catch ({ code }) { return code } }
      return [await import('graupel/kind'), createRequire(process.cwd() + '/')('graupel/kind')].map((kind) => [
        kind.defineKind({ prefix: 'ord', layout: layouts.twitter }).text(5n),
        kind.idSchema(layouts.twitter, 'text')['~standard'].validate('5').value,
        kind.uuidSchema()['~standard'].validate('019a8f2e-6b1c-7000-8070-abcdef012345').value,
        refusal(() => kind.defineKind({ prefix: 'inv', layout: layouts.twitter, keys })),
      ])`
    const form = ['ord_0000000000005', '5', '019a8f2e-6b1c-7000-8070-abcdef012345', 'ERR_OPTION_INVALID']
    expect(run(project, body, {}, [`--conditions=${condition}`])).toEqual({ result: [form, form], warnings: [] })
  })

  test('with keys takes the AES of graupel/mask elsewhere, and writes the same as on Node', () => {
    const body = (aes: string) => `const { layouts } = await import('graupel')
      const { defineKind } = await import('graupel/kind')
      const keys = { a: Uint8Array.from({ length: 32 }, (_, i) => i) }
      return defineKind({ prefix: 'inv', layout: layouts.twitter, keys, aes: ${aes} }).text(1541816160830398464n)`
    const result = 'inv_11a6v3q2w8yw1a0w9t2h80wa02'
    expect(run(project, body('undefined'))).toMatchObject({ result })
    for (const condition of conditions) {
      const aes = "(await import('graupel/mask')).aes"
      expect(run(withPeer, body(aes), {}, [`--conditions=${condition}`])).toMatchObject({ result })
    }
  })
})

describeWith(['native'], 'GRAUPEL_ENGINE', () => {
  test("'js' chooses the js engine without a warning", () => {
    const { result, warnings } = run(project, engineOf, { GRAUPEL_ENGINE: 'js' })
    expect(result).toEqual({ kind: 'js', reason: "GRAUPEL_ENGINE is 'js'" })
    expect(warnings).toEqual([])
  })

  test("'native' gives the native engine, or throws", () => {
    expect(run(project, engineOf, { GRAUPEL_ENGINE: 'native' }).result).toMatchObject({ kind: 'native' })
    const { error, warnings } = run(bareProject, engineOf, { GRAUPEL_ENGINE: 'native' })
    expect(error).toMatchObject({ code: 'ERR_NATIVE_UNAVAILABLE', cause: expect.any(String) })
    expect(warnings).toEqual([])
  })

  test('anything else is refused', () => {
    const { error } = run(project, engineOf, { GRAUPEL_ENGINE: 'nonsense' })
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_OPTION_INVALID' })
    expect(error?.message).toContain("GRAUPEL_ENGINE is 'nonsense'")
  })
})

describeWith(['native'], 'for browsers', () => {
  test('no module of Node is imported', () => {
    const { imports } = JSON.parse(readFileSync(join(packageFolder(project), 'package.json'), 'utf8'))
    const importing = /(?:^(?:import|export)\b[^'"=(/]*?|\bimport\(\s*)['"]([^'"]+)['"]/gm
    const seen = new Set<string>()
    const walk = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(join(packageFolder(project), file), 'utf8')
      for (const [, specifier = ''] of text.matchAll(importing)) {
        // The peer of the mask runs in browsers, too.
        if (file === 'dist/platform/noble.js' && specifier === '@noble/ciphers/aes.js') continue
        expect(specifier, `${file} imports it`).toMatch(/^(\.|#(platform|cipher)$)/)
        walk(specifier.startsWith('#') ? imports[specifier].browser.slice(2) : posix.join(file, '..', specifier))
      }
    }
    for (const [name, { import: file }] of Object.entries<{ import?: { default: string } }>(exports)) {
      // Stores by their URLs are only for Node, because they load the installed clients.
      if (file !== undefined && name !== './stores/url') walk(posix.normalize(file.default))
    }
    expect([...seen]).toContain('dist/platform/browser.js')
    expect([...seen]).not.toContain('dist/platform/node.js')
  })

  test.each(['browser', 'edge-light', 'react-native', 'workerd'])(
    'the TypeScript engine runs under the condition %s',
    (condition) => {
      const { result, warnings } = run(project, engineAndIds, {}, [`--conditions=${condition}`])
      expect(result).toMatchObject([{ kind: 'js', reason: expect.stringContaining('for browsers') }, 1000])
      // There is no warning, because users could not act on it.
      expect(warnings).toEqual([])
    },
  )

  test('the CommonJS form runs in browsers, too, as in Jest with a DOM', () => {
    const program = "console.log(require('graupel').engineInfo().reason)"
    const args = ['--no-experimental-require-module', '--conditions=browser', '-e', program]
    expect(node(project, args)).toMatchObject({ stdout: expect.stringContaining('for browsers'), stderr: '' })
  })
})
