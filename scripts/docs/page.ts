import {
  type DeclarationReflection,
  type ProjectReflection,
  ReferenceReflection,
  ReferenceType,
  type Reflection,
  ReflectionKind,
  ReflectionType,
} from 'typedoc'
import { commentText, item, nameOf, wrapped } from './markdown.ts'

const introduction = `# API

Every export of every entry: what it does, its parameters with units, ranges and defaults, the errors it throws by their codes, and an example.
Examples leave imports out: a name comes from the entry under which it stands here. [errors.md](errors.md) says what to do about an error. This page is
made of the docstrings by \`npm run docs\`.`

/**
 * The exports that most readers look for. The other exports of an entry follow: functions, values, classes,
 * types.
 */
const first = [
  'createGenerator',
  'decode',
  'IdGenerator',
  'BaseGenerator',
  'NarrowGenerator',
  'GeneratorOptions',
  'Stats',
  'DecodedId',
  'Layout',
  'Lease',
  'Store',
]

interface Sources {
  /** The names by which entries are imported, by their sources. */
  readonly entries: ReadonlyMap<string, string>
  /** The declarations of exports and their members. */
  readonly texts: ReadonlyMap<Reflection, readonly string[]>
  readonly fault: (message: string) => void
}

/** Writes docs/api.md: a list of contents, then the exports of each entry. */
export function pageOf({ children: modules = [] }: ProjectReflection, { entries, texts, fault }: Sources): string {
  const contents: string[] = []
  const sections: string[] = []
  const links = new Map<string, string>()
  const anchorOf = anchors()
  anchorOf('API')

  for (const [source, entry] of entries) {
    const children = modules.find((one) => one.sources?.[0]?.fileName.endsWith(source))?.children ?? []
    // A namespace with the name of a value has its types. The docstring of the value mentions them.
    const all = children.filter(({ kind }) => kind !== ReflectionKind.Namespace)
    if (all.length === 0) fault(`${entry} has no exports`)
    const sorted = all.toSorted((one, other) => rankOf(one) - rankOf(other))
    contents.push(item(`[${entry}](#${anchorOf(entry)})`), ...listsOf(sorted))
    sections.push(`## ${entry}`)
    const others = sorted.filter((one) => one.isReference()).map(({ name }) => `[\`${name}\`]`)
    if (others.length > 0) sections.push(`It exports ${others.join(' and ')}, too.`)
    for (const one of sorted.filter((one) => !one.isReference())) {
      addHeading('###', one.kind === ReflectionKind.Function ? `${one.name}()` : one.name, one)
      sections.push(...exported(one))
      for (const method of ownMembers(one).filter(isMethod)) {
        addHeading('####', `\`.${textOf(method)}\``, method)
        sections.push(docsOf(method))
      }
    }
  }
  const text = wrapped([introduction, contents.join('\n'), ...sections].join('\n\n'))
  for (const [code] of text.matchAll(/\[`ERR_[A-Z_]+`\]/g))
    links.set(code, `errors.md#${code.slice(2, -2).toLowerCase()}`)
  const used = [...links].filter(([label]) => text.includes(label))
  const definitions = used.map(([label, target]) => `${label}: ${target}`).sort()
  return `${text}\n\n${definitions.join('\n')}\n`

  function addHeading(level: string, heading: string, one: Reflection): void {
    sections.push(`${level} ${heading}`)
    links.set(`[\`${nameOf(one)}\`]`, `#${anchorOf(heading)}`)
  }

  function exported(one: DeclarationReflection): string[] {
    const isShown = one.kindOf([ReflectionKind.Function, ReflectionKind.TypeAlias]) && (texts.get(one) ?? []).length > 0
    const properties = ownMembers(one).filter((member) => !isMethod(member))
    return [
      isShown ? `\`\`\`ts\n${texts.get(one)?.join('\n')}\n\`\`\`` : '',
      docsOf(one),
      basesOf(one),
      properties.map((member) => item(`\`${textOf(member)}\` ${docsOf(member)}`)).join('\n'),
    ].filter(Boolean)
  }

  function docsOf(one: DeclarationReflection): string {
    const told = one.signatures?.find(({ comment }) => comment !== undefined)
    const docs = commentText(one.comment ?? told?.comment ?? one.getSignature?.comment, told?.parameters)
    if (docs === '') fault(`${one.getFullName()} has no docstring`)
    return docs
  }

  /** Returns the declaration of a member, in one line. */
  function textOf(one: DeclarationReflection): string {
    const text = one.parent?.kindOf(ReflectionKind.TypeLiteral) ? `${one.name}: ${one.type}` : texts.get(one)?.[0]
    const plain = (text ?? one.name).replace(/\s+/g, ' ')
    return one.kind === ReflectionKind.Accessor ? plain.replace('()', '') : plain
  }
}

/** Returns the reflection of an export, even if another entry exports it first. */
function targetOf(one: DeclarationReflection): Reflection {
  return one instanceof ReferenceReflection ? one.getTargetReflectionDeep() : one
}

const kinds = [ReflectionKind.Function, ReflectionKind.Variable, ReflectionKind.Class]

function rankOf(one: DeclarationReflection): number {
  const { kind, name } = targetOf(one)
  const rank = kinds.includes(kind) ? kinds.indexOf(kind) : kinds.length
  return rank + (first.includes(name) ? first.indexOf(name) / first.length - 1 : 0)
}

/** Returns the names of an entry for the list of contents: functions and values, and types. */
function listsOf(all: readonly DeclarationReflection[]): string[] {
  const isType = (one: DeclarationReflection) => !kinds.includes(targetOf(one).kind)
  return [all.filter((one) => !isType(one)), all.filter(isType)]
    .filter((some) => some.length > 0)
    .map((some) => `  ${item(some.map(({ name }) => `[\`${name}\`]`).join(', '))}`)
}

function isMethod({ kind }: Reflection): boolean {
  return kind === ReflectionKind.Method
}

/** Returns the members that belong neither to another export nor to the language. */
function ownMembers(one: DeclarationReflection): DeclarationReflection[] {
  if (one.kind === ReflectionKind.Variable) {
    const type = one.type instanceof ReferenceType ? one.type.typeArguments?.[0] : undefined
    return type instanceof ReflectionType ? (type.declaration.children ?? []) : []
  }
  return (one.children ?? []).filter(
    ({ kind, inheritedFrom, sources = [] }) =>
      kind !== ReflectionKind.Constructor && inheritedFrom?.reflection === undefined && sources.length > 0,
  )
}

/** Returns the exports that a type extends. */
function basesOf({ extendedTypes = [] }: DeclarationReflection): string {
  const names = extendedTypes
    .filter((type) => type instanceof ReferenceType && type.reflection !== undefined)
    .map((type) => `[\`${(type as ReferenceType).name}\`]`)
  return names.length === 0 ? '' : `It has all of ${names.join(' and ')}, and:`
}

/** Makes the anchors of headings as GitHub does: a heading that occurs again gets a number. */
function anchors(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
