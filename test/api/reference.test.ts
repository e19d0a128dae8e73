import * as graupel from 'graupel'
import * as client from 'graupel/client'
import * as kind from 'graupel/kind'
import * as lease from 'graupel/lease'
import * as mask from 'graupel/mask'
import * as segments from 'graupel/segments'
import * as stores from 'graupel/stores'
import * as testing from 'graupel/stores/testing'
import * as storeUrl from 'graupel/stores/url'
import * as uuid from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { read } from '../support/documents.js'

const page = read('docs/api.md')
const { exports } = JSON.parse(read('package.json'))

/** Removes code from a text: blocks, and words between backticks. */
const prose = page.replace(/^```\w+\n[\s\S]*?^```$/gm, '')
const headings = [...prose.matchAll(/^(#+) (.*)$/gm)].map(([, level = '', heading = '']) => ({ level, heading }))

/** Returns the text below a heading, up to the next heading of its level or above. */
function below(heading: string): string {
  const [, level = ''] = new RegExp(`^(#+) ${heading.replace(/[().]/g, '\\$&')}$`, 'm').exec(page) ?? []
  return page.split(`\n${level} ${heading}\n`)[1]?.split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? ''
}

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(all: readonly string[]): string[] {
  const slugs = all.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^a-z0-9_ -]/g, '')
      .replaceAll(' ', '-'),
  )
  return slugs.map((slug, at) => {
    const before = slugs.slice(0, at).filter((one) => one === slug).length
    return before === 0 ? slug : `${slug}-${before}`
  })
}

describe('docs/api.md', () => {
  it('has every entry of the package, in a list of contents first', () => {
    const entries = Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => path.replace('.', 'graupel'))
    expect(headings.filter(({ level }) => level === '##').map(({ heading }) => heading)).toEqual(entries)
    const [contents = ''] = page.split('\n## ')
    expect([...contents.matchAll(/^- \[(.*)\]\(#(.*)\)$/gm)].map(([, entry]) => entry)).toEqual(entries)
  })

  it.each(Object.entries({ graupel, client, kind, lease, mask, segments, stores, testing, storeUrl, uuid }))(
    'has every export of %s, with an example',
    (_, names) => {
      for (const [name, value] of Object.entries(names)) {
        const isFunction = typeof value === 'function' && name !== 'GraupelError'
        const text = below(isFunction ? `${name}()` : name)
        expect(text, name).toMatch(/^\S.*[^:]\.\s/m)
        expect(text, name).toMatch(/^```js\n/m)
        if (isFunction) expect(text, name).toContain(`function ${name}`)
      }
    },
  )

  it.each([
    ...['IdGenerator', 'BaseGenerator', 'NarrowGenerator', 'GeneratorOptions', 'Stats', 'RollbackEvent', 'AheadEvent'],
    ...['DecodedId', 'IdParts', 'Layout', 'LayoutSpec', 'Serial', 'Mask', 'MaskOptions', 'IdClient', 'ConnectOptions'],
    ...['Lease', 'LeaseOptions', 'SegmentGenerator', 'SegmentOptions', 'Counter', 'CounterOptions', 'Store'],
  ])('has an example of the type %s', (name) => {
    expect(below(name)).toMatch(/^```js\n/m)
  })

  it('has the default of every optional option', () => {
    const sections = headings.filter(({ heading }) => heading.endsWith('Options')).map(({ heading }) => below(heading))
    const options = sections.flatMap((text) => [...text.matchAll(/^- `(\w+)\?: .*(\n {2}.*|\n(?=\n {2}))*/gm)])
    expect(options.length).toBeGreaterThan(50)
    const others = options.filter(([text]) => !text.includes('**Default:**')).map(([, name]) => name)
    // These have no default: without them something is not there, or another option is.
    const known = [
      'acl',
      'aes',
      'bucket',
      'count',
      'headers',
      'keys',
      'layout',
      'lease',
      'node',
      'password',
      'segment',
      'signal',
      'token',
      'url',
      'urls',
      'user',
    ]
    expect(others.filter((name) => !known.includes(name as string))).toEqual([])
  })

  it('has no member that is internal, nothing of Error, and no tuple of tuples', () => {
    expect(page).not.toMatch(/@internal|stackTraceLimit|captureStackTrace|Defined in|Inherited from/)
    expect(page).not.toMatch(/readonly \[readonly \[/)
  })

  it('has only links with a target', () => {
    const definitions = new Map(
      [...page.matchAll(/^\[(`[^`]*`)\]: (\S+)$/gm)].map(([, label, target]) => [label, target]),
    )
    const labels = [...prose.matchAll(/\[(`[^`]+`)\](?!\()/g)].map(([, label]) => label)
    expect(labels.length).toBeGreaterThan(300)
    expect(labels.filter((label) => !definitions.has(label))).toEqual([])
    const own = anchorsOf(headings.map(({ heading }) => heading))
    const ofErrors = anchorsOf([...read('docs/errors.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading))
    const anchors = [...own.map((anchor) => `#${anchor}`), ...ofErrors.map((anchor) => `errors.md#${anchor}`)]
    const targets = [...definitions.values(), ...[...prose.matchAll(/\]\((#[^)]+)\)/g)].map(([, target]) => target)]
    expect(targets.filter((target) => !anchors.includes(target as string))).toEqual([])
  })
})
