// Writes the table of bundle sizes into docs/platforms.md (`npx tsx scripts/sizes.ts`): what esbuild makes of
// small programs for browsers, minified and compressed.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Programs of one import. */
export const programs = {
  decode: "import { decode, layouts } from 'graupel'; globalThis.parts = decode(globalThis.id, layouts.twitter)",
  isId: "import { isId } from 'graupel'; globalThis.is = isId(globalThis.id)",
  parseId: "import { parseId } from 'graupel'; globalThis.id = parseId(globalThis.text, 'base62')",
  defineSerial: "import { defineSerial, layouts } from 'graupel'; globalThis.define = [defineSerial, layouts]",
  createGenerator: "import { createGenerator } from 'graupel'; globalThis.ids = createGenerator({ node: 7 })",
  randomUuids:
    "import { createRandomUuidGenerator } from 'graupel/uuid'; globalThis.uuids = createRandomUuidGenerator()",
  connect: "import { connect } from 'graupel/client'; globalThis.ids = connect({ url: '/' })",
} as const

const names: Record<keyof typeof programs, string> = {
  decode: '`decode`, `layouts`',
  isId: '`isId`',
  parseId: '`parseId`',
  defineSerial: '`defineSerial`, `layouts`',
  createGenerator: '`createGenerator`',
  randomUuids: '`createRandomUuidGenerator` of `graupel/uuid`',
  connect: '`connect` of `graupel/client`',
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = `${root}docs/platforms.md`
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, text.replace(/^\| import \| [\s\S]*?\n(?=\n)/m, await tableOfSizes()))
}

/** Bytes of a program after esbuild and gzip. */
export async function sizeByEsbuild(program: string): Promise<number> {
  return compressed(await bundled(program))
}

/** A program after esbuild, for browsers. */
export async function bundled(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

export function compressed(code: string): number {
  return gzipSync(code, { level: 9 }).length
}

/** The table, in tenths of a kilobyte: compressors differ by a few bytes. */
export async function tableOfSizes(): Promise<string> {
  const rows: string[] = []
  for (const [name, program] of Object.entries(programs)) {
    const kilobytes = (await sizeByEsbuild(program)) / 1000
    rows.push(`| ${names[name as keyof typeof programs]} | ${kilobytes.toFixed(1)} kB |\n`)
  }
  return `| import | minified, gzip |\n|---|---|\n${rows.join('')}`
}
