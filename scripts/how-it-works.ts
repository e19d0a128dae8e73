// Writes the text of the page's view Learn into docs/how-it-works.md (`npm run docs`), with a real id and the
// default layout. Other parts are written by hand. test/web/how-it-works.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { layouts } from 'graupel'
import { picture } from '../src/inspect/picture.ts'
import { read } from '../src/inspect/reading.ts'
import { codeLanguages, idCode } from '../web/src/code/index.ts'
import { alternatives, references, type Section, sections, valuesOf } from '../web/src/learn/sections.ts'
import { bitsOf, hexOf, making, type Step, takingApart } from '../web/src/learn/steps.ts'
import { type MessageKey, messageIn } from '../web/src/text/language.ts'

const file = fileURLToPath(new URL('../docs/how-it-works.md', import.meta.url))

/** The id of a tweet of June 2022 (test/support/vectors.json). */
const id = 1541815603606036480n
const layout = layouts.twitter

const columns = 110

const fences: Readonly<Record<string, string>> = { 'C#': 'csharp', JavaScript: 'js' }

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, withText(readFileSync(file, 'utf8')))

/** Returns the document with the present text between its marks. */
export function withText(document: string): string {
  return document
    .replace(/(?<=<!-- text: .* -->\n\n)[\s\S]*?(?=<!-- end of text -->)/, () => textOf())
    .replace(/(?<=<!-- code: .* -->\n\n)[\s\S]*?(?=<!-- end of code -->)/, () => codeOf())
}

function textOf(): string {
  const more: { readonly [key in Section['key']]?: string } = {
    learnBits: ['```text', ...picture(id, read(id, layout), (_, text) => text), '```'].join('\n'),
    learnMade: table(making(id, layout)),
    learnApart: table(takingApart(id, layout)),
    learnUse: list(uses()),
    learnOthers: list(alternatives.map((link, i) => `${linkTo(link)}: ${lines('learnOthers')[i + 1]}`)),
    learnReferences: list(references.map(linkTo)),
  }
  // The code has marks of its own.
  const parts = sections
    .filter(({ key }) => key !== 'learnCode')
    .flatMap((one) => [section(one), ...[more[one.key] ?? []].flat()])
  return `${parts.join('\n\n')}\n\n`
}

function codeOf(): string {
  const [title, text] = lines('learnCode')
  const blocks = codeLanguages.flatMap((language) => [
    `<details><summary>${language}</summary>`,
    `\`\`\`${fences[language] ?? language.toLowerCase()}\n${idCode(language, layout).trimEnd()}\n\`\`\``,
    '</details>',
  ])
  return `${[`## ${title}`, text, ...blocks].join('\n\n')}\n\n`
}

function lines(key: MessageKey): string[] {
  const values = { ...valuesOf(layout, (ms) => new Date(ms).toISOString().slice(0, 10)), layout: `\`${layout.name}\`` }
  return messageIn('en', key, values, grouped).split('\n')
}

/** Writes a number as the documents do: `4 096 000`. */
function grouped(number: number): string {
  return number.toLocaleString('en').replaceAll(',', ' ')
}

function section({ key, kind, leads = 0 }: Section): string {
  const [title, ...all] = lines(key)
  const rest = kind === 'own' ? [] : all
  const paragraphs = kind === undefined ? rest : rest.slice(0, leads)
  const items = rest.slice(paragraphs.length)
  const marked = kind === 'numbered' ? items.map((item, i) => wrapped(item, `${i + 1}. `)).join('\n') : list(items)
  return [`## ${title}`, ...paragraphs.map((text) => wrapped(text)), ...(marked === '' ? [] : [marked])].join('\n\n')
}

function list(items: readonly string[]): string {
  return items.map((item) => wrapped(item, '- ')).join('\n')
}

function uses(): string[] {
  return (['parse', 'generate', 'design', 'compare'] as const).map(
    (view) => `${lines(view)[0]}: ${lines(`${view}Lead`)[0]}`,
  )
}

function linkTo([name, url]: readonly [string, string]): string {
  return `[${name}](${url})`
}

function table(steps: readonly Step[]): string {
  const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``
  const rows = steps.map(({ formula, value }) => [
    code(formula),
    String(value),
    code(hexOf(value)),
    code(bitsOf(value)),
  ])
  return [lines('learnColumns'), ['---', '--:', '--:', '--:'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}

/** Breaks a text into lines, but not within code. */
function wrapped(text: string, mark = ''): string {
  const words = text.match(/(`[^`]*`|[^ `])+/g) ?? []
  let line = mark.trimEnd()
  const done: string[] = []
  for (const word of words) {
    if (line.length + word.length + 1 > columns) {
      done.push(line)
      line = ' '.repeat(mark.length) + word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...done, line].join('\n')
}
