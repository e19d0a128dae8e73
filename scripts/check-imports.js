// Proves that dependencies point one way (part of `npm run check`): every import in src/ goes down the table below, and
// native/core, which has to be testable without Node, includes nothing of Node's and nothing above it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * A room, which is a folder or a file of src/, and the rooms it may import from. A file's own entry comes before its
 * folder's. Only rooms that stand further up may be named, so the table itself cannot have a cycle.
 *
 * @type {Record<string, string[]>}
 */
const mayImport = {
  errors: [],
  halves: [],
  'host/folder': ['errors'],
  layout: ['errors', 'halves'],
  codec: ['errors', 'halves', 'layout'],
  engine: ['errors', 'halves'],
  host: ['engine', 'errors', 'host/folder'],
  platform: ['engine', 'host', 'host/folder'],
  events: ['platform'],
  'engine/choose': ['engine', 'errors', 'events', 'platform'],
  stats: ['engine/choose'],
  policy: ['engine', 'errors', 'events', 'layout', 'platform', 'stats'],
  array: ['engine', 'errors', 'layout'],
  task: ['array', 'engine', 'errors', 'layout', 'policy'],
  options: ['engine', 'engine/choose', 'errors', 'layout', 'platform', 'policy'],
  generator: [
    'array',
    'codec',
    'engine',
    'engine/choose',
    'errors',
    'layout',
    'options',
    'platform',
    'policy',
    'stats',
    'task',
  ],
  index: ['codec', 'engine', 'engine/choose', 'errors', 'events', 'generator', 'layout', 'options', 'policy', 'stats'],
  cli: [
    'codec',
    'engine/choose',
    'errors',
    'generator',
    'host',
    'host/folder',
    'index',
    'layout',
    'options',
    'policy',
    'stats',
  ],
}

/** Where Node may be known. Everything else runs in browsers, too. */
const mayUseNode = ['platform/node', 'platform/binary', 'host', 'cli']

/** @type {string[]} */
const faults = []

const rooms = Object.keys(mayImport)
for (const [at, room] of rooms.entries()) {
  for (const target of /** @type {string[]} */ (mayImport[room])) {
    if (!rooms.slice(0, at).includes(target))
      faults.push(`scripts/check-imports.js: '${room}' stands above '${target}'`)
  }
}

const files = filesIn('src', /\.ts$/)
for (const file of files) {
  const room = roomOf(file)
  if (room === undefined) {
    faults.push(`${file}: its room is not in the table of scripts/check-imports.js`)
    continue
  }
  const allowed = [room, .../** @type {string[]} */ (mayImport[room])]
  for (const target of importsOf(file)) {
    if (target.startsWith('node:')) {
      if (!mayUseNode.some((place) => isWithin(file, place))) faults.push(`${file} imports ${target}: not for browsers`)
      continue
    }
    const isInside = target.startsWith('.') || target === '#platform'
    const targetRoom =
      target === '#platform' ? 'platform' : isInside ? roomOf(posix.join(file, '..', target)) : undefined
    if (targetRoom === undefined) faults.push(`${file} imports ${target}: not a part of src`)
    else if (!allowed.includes(targetRoom))
      faults.push(`${file} imports ${target}: '${room}' may not know '${targetRoom}'`)
    else if (targetRoom === 'platform' && isInside && target !== '#platform' && room !== 'platform') {
      faults.push(`${file} imports ${target}: import '#platform', which is another file in browsers`)
    }
  }
}

const nodeHeader = /^(node|napi|js_native_api|uv|v8|cppgc|libplatform)\b/
const coreFiles = filesIn('native/core', /\.(h|cc)$/)
for (const file of coreFiles) {
  for (const [, bracket, header] of readFileSync(join(root, file), 'utf8').matchAll(
    /^\s*#\s*include\s*(["<])([^">]+)/gm,
  )) {
    const isOutside = bracket === '"' && !posix.join(file, '..', header ?? '').startsWith('native/core/')
    if (nodeHeader.test(header ?? '')) faults.push(`${file} includes ${header}: native/core has no Node header`)
    else if (isOutside) faults.push(`${file} includes ${header}: native/core knows nothing above it`)
  }
}

// A check that finds nothing to check has to fail, too.
if (files.length === 0 || coreFiles.length === 0) faults.push('no files found in src or native/core')
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`check-imports: ${files.length + coreFiles.length} files, dependencies point one way`)

/** What a TypeScript file imports or loads, types included. @param {string} file */
function importsOf(file) {
  // Comments have imports in their examples. Whole lines only: '//' may stand in a string.
  const text = readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const patterns = [
    /^(?:import|export)\b[^'"`;=]*\bfrom\s*['"]([^'"]+)['"]/gm,
    /^import\s*['"]([^'"]+)['"]/gm,
    /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
    /\bgetBuiltinModule\s*\(\s*['"]([^'"]+)['"]/g,
  ]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => /** @type {string} */ (match[1])))
}

/** @param {string} file below src, with its extension or without */
function roomOf(file) {
  const path = file.replace(/^src\//, '').replace(/\.[jt]s$/, '')
  const folder = path.split('/')[0]
  return [path, folder].find((room) => room !== undefined && rooms.includes(room))
}

/** @param {string} file @param {string} place */
function isWithin(file, place) {
  return file === `src/${place}.ts` || file.startsWith(`src/${place}/`)
}

/** @param {string} folder @param {RegExp} name @returns {string[]} */
function filesIn(folder, name) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => name.test(path))
    .sort()
}
