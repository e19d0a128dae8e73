// Proves that comments are short (part of `npm run check`). A line of a comment has at most 110 characters.
// In src, native and server/src, a comment has at most 60 words; lists, and docstrings with tags such as
// `@param`, have at most 60 words in each item and paragraph. `npx tsx scripts/check-comments.ts FOLDER`
// checks another clone.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const maxWidth = 110
const maxWords = 60

/** The folders that are searched with all folders below them; `.` without these. */
const folders = [
  ...['.', 'src', 'native', 'server/src', 'web/src', 'test', 'bench', 'scripts', 'examples', 'model'],
  ...['.ci', '.github'],
]
const sourceName = /\.(?:[cm]?[jt]s|cc|h|c|pml|gyp|sh|yml)$|^\.ci\/[\w-]+$/
/** The files whose comments begin with `#`. */
const isHashed = /\.(?:gyp|sh|yml)$|^\.ci\/[\w-]+$/
/** The files in which the words of comments are counted. */
const isCounted = /^(?:src|native|server\/src)\//

/** The lines of a comment without its marks, such as `//`, and the number of the first line. */
interface Comment {
  readonly line: number
  readonly texts: string[]
}

const root = process.argv[2] ?? join(import.meta.dirname, '..')
const faults: string[] = []
let count = 0
for (const folder of folders) {
  const files = filesIn(folder)
  // A check that finds no files has to fail, too.
  if (files.length === 0) faults.push(`${folder}: no source files found`)
  count += files.length
  for (const file of files) checkFile(file)
}
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`check-comments: ${count} files, no comment is too wide or too long`)

function checkFile(file: string): void {
  const lines = readFileSync(join(root, file), 'utf8').split(/\r?\n/)
  for (const { line, texts } of isHashed.test(file) ? hashedIn(lines) : commentsIn(lines)) {
    for (const at of texts.keys()) {
      const width = [...(lines[line - 1 + at] ?? '')].length
      if (width > maxWidth)
        faults.push(`${file}:${line + at}: a comment ${width} characters wide; wrap it at ${maxWidth}`)
    }
    if (!isCounted.test(file)) continue
    for (const words of countWords(texts)) {
      if (words > maxWords)
        faults.push(
          `${file}:${line}: a comment of ${words} words; shorten it to ${maxWords}, or move the reason to a document in docs`,
        )
    }
  }
}

/** Finds the comments that have lines of their own: blocks, and lines of `//` without a gap. */
function commentsIn(lines: readonly string[]): Comment[] {
  const comments: Comment[] = []
  let open: Comment | undefined
  let isBlock = false
  for (const [at, line] of lines.entries()) {
    const mark: RegExp = isBlock ? /^\s*(?:\*(?!\/))?/ : /^\s*(?:\/\/\/?|\/\*\*?)/
    const [start] = mark.exec(line) ?? []
    if (start === undefined) {
      open = undefined
      continue
    }
    const startsBlock = !isBlock && start.endsWith('*')
    if (open === undefined || startsBlock) {
      open = { line: at + 1, texts: [] }
      comments.push(open)
    }
    const [text = ''] = line.slice(start.length).split('*/', 1)
    open.texts.push(text.trim())
    if (startsBlock || isBlock) {
      isBlock = !line.slice(start.length).includes('*/')
      if (!isBlock) open = undefined
    }
  }
  return comments
}

/** Finds the comments of `#`: one for each line, because their words are not counted. */
function hashedIn(lines: readonly string[]): Comment[] {
  return [...lines.entries()]
    .filter(([, text]) => /^\s*#/.test(text))
    .map(([at, text]) => ({ line: at + 1, texts: [text] }))
}

/**
 * Counts the words of a comment: together, or by paragraph if it is an entry of a reference or a list, which
 * has tags or items. Code and tags do not count.
 */
function countWords(texts: readonly string[]): number[] {
  const counts = [0]
  let isDivided = false
  let isCode = false
  for (const text of texts) {
    const isItem = /^(?:[-*] |\d+\. )/.test(text)
    isDivided ||= isItem || text.startsWith('@')
    if (text.startsWith('@')) break
    if (text.startsWith('```')) isCode = !isCode
    if (isCode) continue
    if (isItem || text === '') counts.push(0)
    const words = text.match(/\S*[\p{L}\p{N}]\S*/gu) ?? []
    counts.push((counts.pop() ?? 0) + words.length)
  }
  return isDivided ? counts : [counts.reduce((sum, count) => sum + count)]
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => sourceName.test(path) && !/(?:^|\/)(?:node_modules|dist|build)\//.test(path))
    .sort()
}
