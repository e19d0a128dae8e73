import { type Comment, type CommentDisplayPart, Reflection, ReflectionKind } from 'typedoc'

const lineWidth = 140

/** A docstring: its text and default, the parameters, what is returned and thrown, the example. */
export function commentText(comment: Comment | undefined, parameters: readonly Reflection[] = []): string {
  if (comment === undefined) return ''
  const tags = (name: `@${string}`, write: (text: string) => string) =>
    comment.getTags(name).map(({ content }) => write(markdown(content)))
  const summary = markdown(comment.summary)
  const list = parameters.filter((one) => one.comment !== undefined)
  return [
    [summary, ...tags('@default', defaultText)].filter(Boolean).join(summary.includes('\n\n') ? '\n\n' : ' '),
    list.map((one) => `- \`${one.name}\`: ${markdown(one.comment?.summary)}`).join('\n'),
    ...tags('@returns', (text) => `**Returns** ${text.charAt(0).toLowerCase()}${text.slice(1)}`),
    ...tags('@throws', (text) => `**Throws** ${text.replace(/[^.]$/, '$&.')}`),
    ...tags('@example', (text) => text.replace(/^```ts\n/, '```js\n')),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** What is one word is a value; typedoc takes every default of one line for code. */
function defaultText(text: string): string {
  const plain = text.replace(/^```ts\n(.*)\n```$/s, '$1')
  return `**Default:** ${/^([^\s`]+|[\d ]+)$/.test(plain) ? `\`${plain}\`` : plain}`
}

/** Names of exports and codes of errors become links, which pageOf() defines below the page; names of documents do, too. */
function markdown(parts: readonly CommentDisplayPart[] = []): string {
  return parts
    .map((part) => {
      if (part.kind !== 'inline-tag') return part.text
      return part.target instanceof Reflection ? `[\`${nameOf(part.target)}\`]` : `\`${part.text}\``
    })
    .join('')
    .replace(/`(ERR_[A-Z_]+)`/g, '[`$1`]')
    .replace(/`?\bdocs\/([\w/-]+\.md)\b`?/g, '[$1]($1)')
    .trim()
}

/** The name of an export; that of a member with the name of what it is a member of. */
export function nameOf({ name, parent }: Reflection): string {
  return parent?.kindOf([ReflectionKind.Module, ReflectionKind.Project]) === false ? `${parent.name}.${name}` : name
}

/** An item of a list. */
export function item(text: string): string {
  return `- ${text.replace(/\n(?=.)/g, '\n  ')}`
}

/** Breaks lines anew: docstrings are narrower, and what became a link is wider. Code and headings stay as they are. */
export function wrapped(text: string): string {
  const parts = text.split(/^(```[\s\S]*?^```|#.*)$/m)
  const refilled = (all: string, margin: string, mark: string) => refill(all, margin, margin + ' '.repeat(mark.length))
  return parts
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/^( *)((?:- )?)\S.*(?:\n *(?!- )\S.*)*/gm, refilled)))
    .join('')
}

function refill(paragraph: string, first: string, below: string): string {
  const lines: string[] = []
  let line = first
  // Not at a space within code.
  for (const word of paragraph
    .trim()
    .replace(/\s+/g, ' ')
    .split(/ (?=(?:[^`]*`[^`]*`)*[^`]*$)/)) {
    // A line that began with a sign would be an item or a heading.
    const isSign = /^([-+*#>]|\d+[.)])$/.test(word)
    if (line.length + word.length >= lineWidth && !isSign && line.trim() !== '') {
      lines.push(line)
      line = below
    }
    line += (line.trim() === '' ? '' : ' ') + word
  }
  return [...lines, line].join('\n')
}
