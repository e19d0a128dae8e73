/** What a process of the service says of itself once it is ready. */
export interface Started {
  /** Such as `http://127.0.0.1:4728`. */
  readonly url: string
  /** By the names of the layouts. */
  readonly nodes: Readonly<Record<string, number>>
  /** The URL of the store, without credentials. */
  readonly store: string
}

/** The lines for a terminal, of one process or of all workers. */
export function announcement(all: readonly [Started, ...Started[]]): string {
  const [{ url, nodes, store }] = all
  const leased = Object.keys(nodes).map((layout) => {
    const numbers = all.map((one) => one.nodes[layout])
    return `${numbers.length === 1 ? 'node' : 'nodes'} ${numbers.join(', ')} (${layout})`
  })
  const paths = ['/v1/ids?count=3', '/v1/segments/orders', '/openapi.json']
  return [`graupel-server ${url}, ${leased.join(', ')}, ${store}`, ...paths.map((path) => `  ${url}${path}`), ''].join(
    '\n',
  )
}
