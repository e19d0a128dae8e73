import type { Flags } from './arguments.js'

/** What the help of a command says. */
export interface Manual {
  readonly name: string
  /** One line, or several. */
  readonly usage: string
  readonly summary: string
  readonly flags: Flags
  /** Lines below the flags. */
  readonly notes: readonly string[]
}

/** `graupel <command> --help`. */
export function commandHelp({ usage, summary, flags, notes }: Manual): string {
  const rows = Object.entries(flags).map(([name, { short, value, choices, help }]) => {
    const head = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    return [head, choices === undefined ? help : `${help}: ${choices.join(', ')}`] as const
  })
  const width = Math.max(...rows.map(([head]) => head.length)) + 2
  const lines = rows.flatMap(([head, text]) =>
    wrap(text, 78 - width).map((line, i) => `  ${(i === 0 ? head : '').padEnd(width)}${line}`),
  )
  return [
    'Usage',
    ...usage.split('\n').map((line) => `  ${line}`),
    '',
    summary,
    '',
    'Flags',
    ...lines,
    '',
    ...notes,
    '',
  ].join('\n')
}

/** `graupel --help`. */
export function overview(manuals: readonly Manual[]): string {
  const rows = manuals.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}`)
  return `Snowflake ids that cannot be equal.

Usage
  graupel <command> [flags]

Commands
${rows.join('\n')}
  help      Show this help, or with the name of a command the help of that.

Flags
  -h, --help     show this help, or the help of a command
  -v, --version  show the version

Examples
  graupel next --node 7
  graupel next -n 1000000 --node datacenter=1,worker=7 --format base62
  graupel inspect 175928847299117063 --layout discord
`
}

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
