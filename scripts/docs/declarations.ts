import ts from 'typescript'

/** The most literals of a type that is shown as its literals. */
const fewLiterals = 10

/**
 * Returns the declaration of an export, or of a member of an export, as it stands in the source, without
 * bodies and initial values. A function has one text for each signature. A file has none, and neither has a
 * type that names types which readers cannot look up.
 */
export function declarationTexts(symbol: ts.Symbol, checker: ts.TypeChecker, unnamed: readonly string[]): string[] {
  const nodes = (symbol.declarations ?? []).filter((node) => !ts.isSourceFile(node))
  if (nodes.some(ts.isTypeAliasDeclaration)) {
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    const literals = type.isUnion()
      ? type.types.map((one) => (one.isStringLiteral() ? `'${one.value}'` : undefined))
      : []
    if (literals.length > 0 && literals.length <= fewLiterals && !literals.includes(undefined))
      return [`type ${symbol.name} = ${literals.join(' | ')}`]
  }
  // The last of several signatures has the body.
  const shown =
    nodes.length > 1 ? nodes.filter((node) => !ts.isFunctionDeclaration(node) || node.body === undefined) : nodes
  const isHidden = new RegExp(`^type.*\\b(typeof|${unnamed.join('|')})\\b`, 's')
  return shown.map(textOf).filter((text) => !isHidden.test(text))
}

function textOf(node: ts.Node): string {
  const { body, initializer } = node as { body?: ts.Node; initializer?: ts.Node }
  const end = body?.pos ?? initializer?.pos ?? node.getEnd()
  return (
    node
      .getSourceFile()
      .text.slice(node.getStart(), end)
      .replace(/^(export |async |declare |override |readonly |get )+/, '')
      .replace(/\bthis: void(, )?/, '')
      // Readers cannot look up `Bytes`, which src/codec/radix.ts has for old compilers.
      .replace(/\bBytes\b/g, 'Uint8Array')
      .replace(/[\s=;]+$/, '')
  )
}
