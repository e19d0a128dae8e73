import type { Layout } from 'graupel'
import { defineKind } from 'graupel/kind'
import { keysIn } from '#key-file'
import { StartError, shown } from '../failure.js'
import { type IdTexts, textsOfKind, textsOfUuidKind } from '../sources/id-texts.js'
import type { Options } from './table.js'

/** A kind of ids in the configuration file. Its name is its prefix. */
export interface KindChoice {
  /** The name of its layout, one of the service. @default the first */
  readonly layout: string
  /** Whether its texts are TypeIDs. */
  readonly uuid: boolean
  /** The path of a file of keys, which make its texts opaque. */
  readonly keyFile: string
}

/** Makes the kinds of the service by their prefixes, and reads the files of their keys. @throws StartError */
export function kindsOf({ kinds = {}, layouts }: Options): ReadonlyMap<string, IdTexts> {
  return new Map(Object.entries(kinds).map(([prefix, choice]) => [prefix, kindOf(prefix, choice, layouts)]))
}

function kindOf(prefix: string, choice: Partial<KindChoice>, layouts: readonly Layout[]): IdTexts {
  const { layout: name, keyFile, ...rest } = choice
  const place = `kinds.${prefix.length > 40 ? `${prefix.slice(0, 40)}…` : prefix}`
  const [byDefault] = layouts as readonly [Layout, ...Layout[]]
  const layout = name === undefined ? byDefault : layouts.find((one) => one.name === name)
  if (layout === undefined) {
    const names = layouts.map((one) => one.name).join(', ')
    throw new StartError(
      'ERR_OPTION_INVALID',
      `${place}.layout is ${shown(name)}, which the service does not have; give one of ${names}, or add it to --layouts`,
    )
  }
  for (const own of ['prefix', 'keys']) {
    if (!Object.hasOwn(rest, own)) continue
    const instead = own === 'keys' ? 'give keyFile, the path of a file of keys' : 'its name is its prefix'
    throw new StartError('ERR_OPTION_INVALID', `${place} has ${own}, which is no option; ${instead}`)
  }
  if (keyFile !== undefined && typeof keyFile !== 'string') {
    throw new StartError('ERR_OPTION_INVALID', `${place}.keyFile is ${shown(keyFile)}; give the path of a file of keys`)
  }
  try {
    const keys = keyFile === undefined ? {} : { keys: keysIn(keyFile, `${place}.keyFile`) }
    const { uuid, ...others } = rest
    return uuid === true
      ? textsOfUuidKind(defineKind({ ...others, ...keys, prefix, uuid }), layout)
      : textsOfKind(defineKind({ ...rest, ...keys, prefix, layout }), layout)
  } catch (error) {
    const { code = 'ERR_OPTION_INVALID', message } = error as Error & { code?: string }
    throw new StartError(code, message.startsWith(place) ? message : `${place}: ${message}`, error)
  }
}
