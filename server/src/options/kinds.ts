import type { Layout } from 'graupel'
import { defineKind } from 'graupel/kind'
import { keysIn } from '#key-file'
import { entryOf, refusedAt, StartError, shown } from '../failure.js'
import { type IdTexts, textsOfKind, textsOfUuidKind } from '../sources/id-texts.js'

/** A kind of ids in the configuration file. Its name is its prefix. */
export interface KindChoice {
  /** The name of its layout, one of the service. @default the first */
  readonly layout: string
  /** Whether its texts are TypeIDs. */
  readonly uuid: boolean
  /** The path of a file of keys, which make its texts opaque. */
  readonly keyFile: string
}

/** Options of `defineKind` that the service sets itself, and what to do instead. */
const own = { prefix: 'its name is its prefix', keys: 'give keyFile, the path of a file of keys' }

/**
 * Makes the kinds of the service by their prefixes, and reads the files of their keys. @throws StartError;
 * RangeError as `keysIn`
 */
export function kindsOf({
  kinds = {},
  layouts,
}: {
  readonly kinds?: Readonly<Record<string, Partial<KindChoice>>>
  readonly layouts: readonly Layout[]
}): ReadonlyMap<string, IdTexts> {
  return new Map(Object.entries(kinds).map(([prefix, choice]) => [prefix, kindOf(prefix, choice, layouts)]))
}

function kindOf(prefix: string, choice: Partial<KindChoice>, layouts: readonly Layout[]): IdTexts {
  const { layout: name, keyFile, ...options } = choice
  const entry = entryOf('kinds', prefix)
  const layout = name === undefined ? (layouts[0] as Layout) : layouts.find((one) => one.name === name)
  if (layout === undefined) {
    const names = layouts.map((one) => one.name).join(', ')
    throw new StartError(
      'ERR_OPTION_INVALID',
      `${entry}.layout is ${shown(name)}, which the service does not have; give one of ${names}, or add it to --layouts`,
    )
  }
  for (const [taken, instead] of Object.entries(own)) {
    if (!Object.hasOwn(options, taken)) continue
    throw new StartError('ERR_OPTION_INVALID', `${entry} has ${taken}, which is no option; ${instead}`)
  }
  if (keyFile !== undefined && typeof keyFile !== 'string') {
    throw new StartError('ERR_OPTION_INVALID', `${entry}.keyFile is ${shown(keyFile)}; give the path of a file of keys`)
  }
  const keys = keyFile === undefined ? {} : { keys: keysIn(keyFile, `${entry}.keyFile`) }
  try {
    return options.uuid === true
      ? textsOfUuidKind(defineKind({ ...options, ...keys, prefix, uuid: true }), layout)
      : textsOfKind(defineKind({ ...options, ...keys, prefix, layout }), layout)
  } catch (error) {
    throw refusedAt(entry, error)
  }
}
