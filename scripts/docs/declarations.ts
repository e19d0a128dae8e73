import ts from 'typescript'

/** How many literals a type may be made of to be shown as them. */
const fewLiterals = 10

/**
 * What an export, or a member of one, is declared by: as it stands in the source, without bodies and initial values. A function has one text
 * for each of its signatures; a file, and a type that names what readers cannot look up, has none.
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
  // The last of several is that of the body.
  const shown =
    nodes.length > 1 ? nodes.filter((node) => !ts.isFunctionDeclaration(node) || node.body === undefined) : nodes
  const isHidden = new RegExp(`^type.*\\b(typeof|${unnamed.join('|')})\\b`, 's')
  return shown.map(textOf).filter((text) => !isHidden.test(text))
}

function textOf(node: ts.Node): string {
  const { body, initializer } = node as { body?: ts.Node; initializer?: ts.Node }
  const end = body?.pos ?? initializer?.pos ?? node.getEnd()
  return node
    .getSourceFile()
    .text.slice(node.getStart(), end)
    .replace(/^(export |async |declare |override |readonly |get )+/, '')
    .replace(/\bthis: void(, )?/, '')
    .replace(/[\s=;]+$/, '')
}
