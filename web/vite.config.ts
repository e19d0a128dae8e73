import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { defineConfig, normalizePath, type Plugin } from 'vite'
import graupel from '../package.json' with { type: 'json' }

/** The id that Vite gives to a module of the library. It has `/` on Windows, too. */
const source = (path: string) => normalizePath(fileURLToPath(new URL(`../src/${path}`, import.meta.url)))

/**
 * Turns the tags into plain ones, because browsers load neither modules nor files marked `crossorigin` from
 * `file:`. The page is one classic script.
 */
const plainTags: Plugin = {
  name: 'plain-tags',
  apply: 'build',
  enforce: 'post',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html
        .replace(/<script type="module" crossorigin src="([^"]+)"><\/script>/, '<script defer src="$1"></script>')
        .replace(/<link rel="stylesheet" crossorigin href="/, '<link rel="stylesheet" href="'),
  },
}

/**
 * Replacements for modules that no page calls: it has the js engine alone, and writes no option wrongly; its
 * generators have a node, no lease, no environment and no claim, observe no ids and reuse no ticks; the page
 * itself says when a layout expires.
 */
const unused = new Map([
  [
    source('engine/choose.ts'),
    "export const engineOptions = ['auto'], automaticEngine = () => ({ kind: 'js' }), chooseEngine = () => 'js', isJsForced = () => true, allowedAddon = () => {}, requireNative = undefined",
  ],
  [
    source('engine/open.ts'),
    "import { platform } from '#platform'; import { JsCore } from './js/core.js'; import { statesFor } from './states.js'; export const openCore = (_, spec) => JsCore.open(spec, statesFor(spec), (to) => openCore('js', to)), clockMs = () => platform.wallMs()",
  ],
  [source('core/suggestion.ts'), "export const didYouMean = () => '', suggestionFor = () => {}"],
  [source('generator/state-option.ts'), 'export const stateOfUser = (_, state) => state'],
  [source('generator/clock.ts'), "export const clocks = ['wall'], clockOfUser = (_, clock) => clock"],
  [
    source('engine/source/environment.ts'),
    'export const nodeVariable = undefined, nodeFromVariable = undefined, nodeFromEnvironment = undefined, isNodeUnique = undefined',
  ],
  [source('engine/source/leased-node.ts'), 'export const LeasedNode = undefined'],
  [source('generator/lease-option.ts'), 'export const resolveLease = () => undefined'],
  [source('generator/warnings.ts'), 'export const warnInContainer = () => {}, warnOfExpiry = () => {}'],
  [source('policy/observe.ts'), 'export const observer = undefined'],
  [source('engine/js/claim.ts'), 'export const JsClaim = undefined'],
  [source('engine/js/history.ts'), 'export const History = undefined'],
  [source('engine/js/slot-above.ts'), 'export const slotAbove = undefined'],
])

const replaced = new Set<string>()

const withoutUnused: Plugin = {
  name: 'without-unused',
  apply: 'build',
  enforce: 'pre',
  load(id) {
    if (unused.has(id)) replaced.add(id)
    return unused.get(id)
  },
  buildEnd(error) {
    if (error !== undefined) return
    const others = [...unused.keys()].filter((id) => !replaced.has(id))
    if (others.length > 0) this.error(`no module of the page is ${others.join(', ')}; mend the list of replacements`)
  },
}

/** The most bytes of all files together, compressed. */
const maxBytes = 80_000

/** Drops the indentation of templates of HTML, not of code, and fails if the page is too large. */
const small: Plugin = {
  name: 'small',
  apply: 'build',
  enforce: 'pre',
  transform: (code, id) => (/\/web\/src\/(?!code\/).*\.ts$/.test(id) ? code.replace(/\n +/g, '\n') : undefined),
  writeBundle(_, bundle) {
    const sizes = Object.values(bundle).map((file) => {
      const text = file.type === 'chunk' ? file.code : file.source
      return brotliCompressSync(text).length
    })
    const all = sizes.reduce((sum, size) => sum + size, 0)
    this.info(`${all} bytes compressed by brotli, of ${maxBytes} that it may have`)
    if (all > maxBytes) this.error(`the page has ${all} bytes compressed; it may have ${maxBytes}`)
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [withoutUnused, plainTags, small],
  resolve: {
    // The sources, so modules that the package and `src/inspect` share are in the page once.
    alias: { graupel: source('index.ts'), '#platform': source('platform/browser.ts') },
  },
  define: { packageVersion: JSON.stringify(graupel.version) },
  build: {
    // In the service, whose package contains the page.
    outDir: '../server/dist/page',
    // Browsers with light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: false,
    // One file, because the page's policy forbids scripts that add styles.
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { format: 'iife', entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
  },
})
