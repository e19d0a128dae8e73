import { type Comment, type CommentDisplayPart, Reflection, ReflectionKind } from 'typedoc'

const lineWidth = 140

/** Writes a docstring: its text and default, the parameters, the result, the errors and the example. */
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

/** Writes a default as code if it is one word. typedoc takes every default of one line for code. */
function defaultText(text: string): string {
  const plain = text.replace(/^```ts\n(.*)\n```$/s, '$1')
  return `**Default:** ${/^([^\s`]+|[\d ]+)$/.test(plain) ? `\`${plain}\`` : plain}`
}

/**
 * Makes links of the names of exports and documents and of error codes; pageOf() defines them below the page.
 */
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

/** Returns the name of an export; the name of a member follows the name of its type. */
export function nameOf({ name, parent }: Reflection): string {
  return parent?.kindOf([ReflectionKind.Module, ReflectionKind.Project]) === false ? `${parent.name}.${name}` : name
}

/** Writes an item of a list. */
export function item(text: string): string {
  return `- ${text.replace(/\n(?=.)/g, '\n  ')}`
}

/**
 * Breaks the lines of text anew, because docstrings are narrower and links are wider. Code and headings stay
 * as they are.
 */
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
  // Spaces within code do not break a line.
  for (const word of paragraph
    .trim()
    .replace(/\s+/g, ' ')
    .split(/ (?=(?:[^`]*`[^`]*`)*[^`]*$)/)) {
    // A line that begins with such a sign would be an item or a heading.
    const isSign = /^([-+*#>]|\d+[.)])$/.test(word)
    if (line.length + word.length >= lineWidth && !isSign && line.trim() !== '') {
      lines.push(line)
      line = below
    }
    line += (line.trim() === '' ? '' : ' ') + word
  }
  return [...lines, line].join('\n')
}
