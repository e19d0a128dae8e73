// Proves that dependencies point one way (part of `npm run check`): every import in src/ and every include in
// native/ is allowed by a table below.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * The rooms of src/, each a folder or a file, with the rooms that it may import from. A room may only name
 * rooms above it, so the table cannot have a cycle.
 */
const mayImport: Record<string, string[]> = {
  core: [],
  layout: ['core'],
  codec: ['core', 'layout'],
  pattern: ['core'],
  serial: ['core', 'layout', 'pattern'],
  // The key, the errors and the memory of a state, and the contracts of engines, addon and claims.
  state: ['core', 'layout'],
  host: ['core', 'state'],
  platform: ['core', 'host', 'state'],
  mask: ['codec', 'core', 'layout', 'platform'],
  kind: ['codec', 'core', 'layout', 'mask', 'platform'],
  // The engines, which of them a process has, and the origin of a generator's node, floor and ceiling.
  engine: ['core', 'layout', 'platform', 'state'],
  // The calls of everything that hands out numbers, and the prefetcher.
  numbers: ['codec', 'core', 'engine', 'layout', 'platform', 'state'],
  policy: ['core', 'engine', 'layout', 'numbers', 'platform', 'state'],
  generator: ['core', 'engine', 'layout', 'numbers', 'platform', 'policy', 'state'],
  uuid: ['codec', 'core', 'generator', 'layout', 'mask', 'numbers', 'platform'],
  inspect: ['kind', 'layout', 'uuid'],
  testing: ['core', 'engine', 'generator', 'layout', 'platform', 'state'],
  stores: ['core', 'platform'],
  lease: ['core', 'engine', 'layout', 'platform', 'stores'],
  counter: ['core', 'numbers', 'pattern', 'platform', 'stores'],
  segments: ['core', 'counter', 'numbers', 'platform', 'state', 'stores'],
  client: ['core', 'generator', 'layout', 'numbers', 'platform', 'state'],
  index: ['codec', 'core', 'engine', 'generator', 'layout', 'policy', 'serial', 'platform', 'state'],
  cli: [
    'codec',
    'core',
    'counter',
    'generator',
    'host',
    'index',
    'inspect',
    'kind',
    'layout',
    'lease',
    'mask',
    'platform',
    'segments',
    'serial',
    'state',
    'stores',
    'uuid',
  ],
}

/** The names of package.json by which other rooms import the platform. */
const platformNames = ['#platform', '#cipher']

/** The module of the platform that is the same file in browsers. */
const platformEvents = 'src/platform/events.js'

/** The rooms that may use Node. All other rooms run in browsers, too. */
const mayUseNode = [
  'platform/node',
  'platform/binary',
  'platform/debug',
  'host',
  'stores/url',
  'stores/kubernetes/pod',
  'cli',
]

/** Packages that the user installs, and the one room that imports them. */
const mayUsePackage: Record<string, string> = { '@noble/ciphers/aes.js': 'platform' }

/** The rooms of src/ that the page in web/ may import, beside the entry of the package. */
const pageMayImport = ['inspect', 'kind', 'uuid']

/** Packages that the page is built of. */
const pageMayUsePackage = ['graupel', 'lit-html']

/**
 * The rooms of native/, with the rooms that they may include from. Only the platforms and the clock include
 * headers of the system, and only the binding includes headers of Node. So the other rooms are tested without
 * them.
 */
const mayInclude: Record<string, string[]> = {
  'native/core': [],
  'native/host': ['native/core'],
  'native/platform/posix': ['native/core', 'native/host'],
  'native/platform/windows': ['native/core', 'native/host'],
  'native/binding': ['native/core', 'native/host'],
}
const nodeHeader = /^(node|napi|js_native_api|uv|v8|cppgc|libplatform)[^a-z]/
const mayUseSystem = /^native\/(platform\/|core\/clock\.)/

const faults: string[] = []

const rooms = Object.keys(mayImport)
for (const [at, room] of rooms.entries()) {
  for (const target of mayImport[room] ?? []) {
    if (!rooms.slice(0, at).includes(target))
      faults.push(`scripts/check-imports.ts: '${room}' stands above '${target}'`)
  }
}

const files = filesIn('src', /\.ts$/)
for (const file of files) {
  const room = roomOf(file)
  if (room === undefined) {
    faults.push(`${file}: its room is not in the table of scripts/check-imports.ts`)
    continue
  }
  const allowed = [room, ...(mayImport[room] ?? [])]
  for (const target of importsOf(file)) {
    if (target.startsWith('node:')) {
      if (!mayUseNode.some((place) => isWithin(file, place))) faults.push(`${file} imports ${target}: not for browsers`)
      continue
    }
    if (mayUsePackage[target] === room) continue
    const isInside = target.startsWith('.') || platformNames.includes(target)
    const targetRoom = platformNames.includes(target)
      ? 'platform'
      : isInside
        ? roomOf(posix.join(file, '..', target))
        : undefined
    if (targetRoom === undefined) faults.push(`${file} imports ${target}: not a part of src`)
    else if (!allowed.includes(targetRoom))
      faults.push(`${file} imports ${target}: '${room}' may not know '${targetRoom}'`)
    else if (targetRoom === 'platform' && target.startsWith('.') && room !== 'platform') {
      if (posix.join(file, '..', target) === platformEvents) continue
      faults.push(`${file} imports ${target}: import ${platformNames.join(' or ')}, which are other files in browsers`)
    }
  }
}

const pageFiles = filesIn('web/src', /\.ts$/)
const serverFiles = filesIn('server/src', /\.ts$/)
for (const circle of circlesOf([...files, ...pageFiles, ...serverFiles])) {
  faults.push(`${circle.join(', ')}: each imports the next, and the last the first`)
}

for (const file of pageFiles) {
  for (const target of importsOf(file)) {
    const path = posix.join(file, '..', target)
    if (pageMayUsePackage.includes(target) || (target.startsWith('.') && path.startsWith('web/src/'))) continue
    const room = target.startsWith('.') && path.startsWith('src/') ? roomOf(path) : undefined
    if (room === undefined || !pageMayImport.includes(room)) faults.push(`${file} imports ${target}: not for the page`)
  }
}

const nativeFiles = filesIn('native', /\.(h|cc)$/)
for (const file of nativeFiles) {
  const room = dirname(file)
  const allowed = mayInclude[room]
  if (allowed === undefined) {
    faults.push(`${file}: its room is not in the table of scripts/check-imports.ts`)
    continue
  }
  const text = readFileSync(join(root, file), 'utf8')
  for (const [, bracket, header = ''] of text.matchAll(/^\s*#\s*include\s*(["<])([^">]+)/gm)) {
    const target = dirname(posix.join(file, '..', header))
    if (nodeHeader.test(header)) {
      if (room !== 'native/binding') faults.push(`${file} includes ${header}: only native/binding may know Node`)
    } else if (bracket === '"') {
      if (target !== room && !allowed.includes(target))
        faults.push(`${file} includes ${header}: '${room}' may not know '${target}'`)
    } else if (header.endsWith('.h') && !mayUseSystem.test(file)) {
      faults.push(`${file} includes ${header}: the system's headers are for native/platform`)
    }
  }
}

// A check that finds no files has to fail, too.
if ([files, pageFiles, nativeFiles].some(({ length }) => length === 0))
  faults.push('no files found in src, web or native')
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else
  console.log(
    `check-imports: ${files.length + pageFiles.length + nativeFiles.length} files, dependencies point one way`,
  )

/** Lists the modules that a file imports or loads, also for types alone. */
function importsOf(file: string): string[] {
  // Comments have imports in their examples. Only whole lines are removed, because '//' may stand in a
  // string.
  const text = readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const patterns = [
    /^(?:import|export)\b[^'"`;=]*\bfrom\s*['"]([^'"]+)['"]/gm,
    /^import\s*['"]([^'"]+)['"]/gm,
    /\b(?:i|tsI)mport\s*\(\s*['"]([^'"]+)['"]/g,
    /\bgetBuiltinModule\s*\(\s*['"]([^'"]+)['"]/g,
  ]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, target = '']) => target))
}

/** Finds files that import each other, also for types alone: each circle once, by a search in depth. */
function circlesOf(all: readonly string[]): string[][] {
  const known = new Set(all)
  const seen = new Set<string>()
  const path: string[] = []
  const circles: string[][] = []
  const visit = (file: string) => {
    const at = path.indexOf(file)
    if (at >= 0) circles.push(path.slice(at))
    if (seen.has(file)) return
    seen.add(file)
    path.push(file)
    for (const target of importsOf(file)) {
      const source = posix.join(file, '..', target).replace(/\.js$/, '.ts')
      if (target.startsWith('.') && known.has(source)) visit(source)
    }
    path.pop()
  }
  for (const file of all) visit(file)
  return circles
}

/** Returns the room of a file below src, given with its extension or without. */
function roomOf(file: string): string | undefined {
  const path = file.replace(/^src\//, '').replace(/\.[jt]s$/, '')
  return rooms.filter((room) => path === room || path.startsWith(`${room}/`)).sort((a, b) => b.length - a.length)[0]
}

function isWithin(file: string, place: string): boolean {
  return file === `src/${place}.ts` || file.startsWith(`src/${place}/`)
}

function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => name.test(path))
    .sort()
}
