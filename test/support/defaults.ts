import { readdirSync } from 'node:fs'
import { read } from './documents.ts'

/**
 * Returns the docstrings of the library in one line each, by the interface and the name of the option, or by
 * the name of the function.
 */
export function docstrings(): Map<string, string> {
  const texts = new Map<string, string>()
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    // No user reads the comments of these.
    if (!file.endsWith('.ts') || /^(cli[\\/]|numbers[\\/]prefetcher)/.test(file)) continue
    let owner = ''
    const parts =
      /^(?:export )?(?:default )?(?:async )?(?:interface|class|function) (\w+)|\/\*\*([\s\S]*?)\*\/(?=\s*(?:readonly )?(\w*))/gm
    for (const [, declared, comment = '', name = ''] of read(`src/${file}`).matchAll(parts)) {
      if (declared !== undefined) owner = declared
      else texts.set(`${owner}.${name}`, comment.replace(/\n\s*\* ?/g, ' ').replace(/\s+/g, ' '))
    }
  }
  return texts
}

/**
 * Returns the documented defaults of the library: the text behind each `@default`, by the interface and the
 * name of the option, or by the name of the function and of its parameter.
 */
export function documentedDefaults(): Map<string, string> {
  const defaults = new Map<string, string>()
  for (const [name, text] of docstrings()) {
    for (const [, parameter, value = ''] of text.matchAll(
      /(?:@param (\w+)(?:(?!@param).)*?)?@default (.*?)(?= @|$)/g,
    )) {
      defaults.set(parameter === undefined ? name : `${name}(${parameter})`, value.trim())
    }
  }
  return defaults
}
