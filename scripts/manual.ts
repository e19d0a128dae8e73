// Puts the documents of the service into its package, so the package of the library need not have them.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'

/** The documents of the service, and the pictures in them. */
export const manual = [
  'docs/availability.md',
  'docs/how-it-works.md',
  'docs/page-dark.webp',
  'docs/page-light.webp',
  'docs/page.md',
  'docs/redis-protocol.md',
  'docs/service-deployment.md',
  'docs/service-operations.md',
  'docs/service.md',
]

export function copyManual(): void {
  const folder = 'server/dist/docs'
  mkdirSync(folder, { recursive: true })
  for (const file of manual) {
    const copy = join(folder, basename(file))
    if (file.endsWith('.webp')) copyFileSync(file, copy)
    else writeFileSync(copy, linksInPackages(readFileSync(file, 'utf8')))
  }
}

/** Leads links to the files of both packages. Of documents that neither has, the names stay. */
function linksInPackages(text: string): string {
  return text
    .replace(/\[([^\]]+)\]\((?:benchmarks|[a-z]+-proof)\.md[^)]*\)/g, '$1')
    .replace(/(?<=\]\()(?!https?:|#)[^)#]+/g, placeOf)
}

/** Returns the place of the target of a link, seen from the copy. npm puts graupel beside graupel-server. */
function placeOf(link: string): string {
  const target = posix.join('docs', link)
  if (manual.includes(target)) return posix.basename(target)
  return `../../${target.startsWith('server/') ? target.slice('server/'.length) : `../graupel/${target}`}`
}
