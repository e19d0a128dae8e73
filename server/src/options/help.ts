import { flagOf, type Option, type OptionName, table, variableOf } from './table.js'

const width = 80
const options: Readonly<Record<OptionName, Option<unknown>>> = table

/** Returns the text of `--help`, in lines for a terminal of 80 columns. */
export function helpText(): string {
  const rows: { group?: string | undefined; flag: string; help: string }[] = Object.entries(options).map(
    ([name, { group, value, help, byDefault, shownDefault = byDefault }]) => ({
      group,
      flag: `--${flagOf(name)}${value === undefined ? '' : ` ${value}`}`,
      help: value === undefined || shownDefault === undefined ? help : `${help} (${shownDefault})`,
    }),
  )
  rows.push({ flag: '--config FILE', help: 'options in a file of JSON: { "maxCount": 1000 }' })
  rows.push({ flag: '-h, --help', help: 'show this help' }, { flag: '--version', help: 'show the version' })
  const indent = 2 + Math.max(...rows.map(({ flag }) => flag.length)) + 2
  const lines = rows.flatMap(({ group, flag, help }) => {
    const [first, ...more] = wrapped(help, width - indent)
    const title = group === undefined ? [] : ['', `${group}:`]
    return [...title, `  ${flag}`.padEnd(indent) + first, ...more.map((line) => ' '.repeat(indent) + line)]
  })
  const example = `Each flag is also a variable: --${flagOf('maxCount')} is ${variableOf('maxCount')}.`
  return [
    'Usage: graupel-server [flags]',
    '',
    'Hands out ids over HTTP.',
    ...lines,
    '',
    ...wrapped(`${example} A flag overrides a variable, and a variable overrides the file.`, width),
    '',
  ].join('\n')
}

/** Breaks a text into lines between words. */
function wrapped(text: string, most: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= most) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
