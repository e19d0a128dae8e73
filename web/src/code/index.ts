import type { Layout } from 'graupel'
import { csharp } from './csharp.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { javascript } from './javascript.ts'
import { php } from './php.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { type Shape, shapeOf } from './shape.ts'

const writers: Readonly<Record<string, (shape: Shape) => string>> = {
  JavaScript: javascript,
  Python: python,
  Java: java,
  Ruby: ruby,
  PHP: php,
  'C#': csharp,
  Go: go,
}

/** The languages in which there is code. */
export const codeLanguages: readonly string[] = Object.keys(writers)

/**
 * Returns a program part that encodes and decodes ids of a layout, and makes ids of one node. The languages
 * have the same functions. Without a generator if the layout is for decoding only.
 */
export function idCode(language: string, layout: Layout): string {
  return (writers[language] as (shape: Shape) => string)(shapeOf(layout))
}
