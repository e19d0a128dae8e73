// Loads the library of next.cc by the foreign function interface of the runtime: Node, Deno or Bun.

const text = new TextEncoder()

/** The functions by their names, with results and arguments as Node names them. */
const signatures = {
  graupel_open: ['uint32', ['buffer', 'buffer', 'uint32']],
  graupel_next: ['uint64', []],
  graupel_next_into: ['void', []],
  graupel_open_count: ['uint32', []],
  graupel_nothing: ['void', []],
  graupel_number: ['uint32', []],
  graupel_bigint: ['uint64', []],
}

export const runtime = globalThis.Deno ? 'deno' : globalThis.Bun ? 'bun' : 'node'

const short = (name) => name.replace('uint', 'u')
const loaders = {
  async node(path) {
    const { dlopen } = await import('node:ffi')
    return dlopen(
      path,
      map(([result, args]) => ({ return: result, arguments: args })),
    ).functions
  },
  async deno(path) {
    const all = map(([result, args]) => ({ result: short(result), parameters: args.map(short) }))
    return globalThis.Deno.dlopen(path, all).symbols
  },
  async bun(path) {
    const { dlopen } = await import('bun:ffi')
    const all = map(([result, args]) => ({
      returns: short(result),
      args: args.map((a) => short(a).replace('buffer', 'ptr')),
    }))
    return dlopen(path, all).symbols
  },
}

function map(change) {
  return Object.fromEntries(Object.entries(signatures).map(([name, signature]) => [name, change(signature)]))
}

/** Opens the page of a node in a folder, for this thread. */
export async function open(path, folder, node) {
  const library = await loaders[runtime](path)
  // V8 may move a small array, and not one with a buffer of its own.
  const mailbox = new BigUint64Array(new ArrayBuffer(4096))
  const fault = library.graupel_open(text.encode(`${folder}\0`), mailbox, node)
  if (fault !== 0) throw new Error(`the page cannot be opened: fault ${fault}`)
  return { library, mailbox }
}

/** Returns how many numbers are not above the number before. */
export function descents(ids) {
  let found = 0
  for (let i = 1; i < ids.length; i++) found += ids[i] > ids[i - 1] ? 0 : 1
  return found
}
