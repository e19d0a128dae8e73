import { platform } from '#platform'
import { rangeError, show, typeError } from '../core/errors.js'
import { ownProperties } from '../core/own-properties.js'

/** The variable that says which node a process is. @internal */
export const nodeVariable = 'GRAUPEL_NODE'

/** What {@link nodeFromEnvironment} may believe beside the variable `GRAUPEL_NODE`. */
export interface NodeSources {
  /**
   * The name of the Kubernetes StatefulSet of this pod. The number after it in `POD_NAME`, or in `HOSTNAME` where there is no
   * `POD_NAME`, then counts. It has to be named, because a pod of a Deployment and a host may have a name that ends in a
   * number, too.
   */
  statefulSet?: string
}

/**
 * The number that the platform has given to this process, from the environment: `GRAUPEL_NODE`, or the ordinal of a pod of a
 * StatefulSet. It guesses nothing: what is missing or ambiguous is refused. `docs/nodes.md` says how to set it on which
 * platform, and what each number is worth.
 *
 * `createGenerator` takes `GRAUPEL_NODE` by itself. This function is for the ordinal, and for a number that is a part of the
 * node. Browsers have no environment, so it throws there.
 *
 * @param sources - What counts beside `GRAUPEL_NODE`; nothing by default.
 * @returns A whole number from 0 up. Whether it fits the layout is checked by what it is passed to.
 * @throws TypeError `ERR_NODE_REQUIRED` where no variable says a number; TypeError, RangeError `ERR_NODE_INVALID` for one that
 * is no number in plain digits, for the name of another pod, and where two variables disagree; TypeError `ERR_OPTION_UNKNOWN`,
 * `ERR_OPTION_INVALID`.
 * @example
 * process.env.POD_NAME = 'web-7' // by the manifest
 * const worker = nodeFromEnvironment({ statefulSet: 'web' })
 * createGenerator({ node: { datacenter: 1, worker } }).node // 39
 */
export function nodeFromEnvironment(sources: NodeSources = {}): number {
  const statefulSet = readSources(sources)
  const found = [fromVariable(), statefulSet === undefined ? undefined : fromPod(statefulSet)].filter(
    (source) => source !== undefined,
  )
  const [first, second] = found
  if (first === undefined) throw missing(statefulSet)
  if (second !== undefined && second.node !== first.node) {
    throw rangeError(
      'ERR_NODE_INVALID',
      `${first.variable} is ${show(first.value)}, and ${second.variable} is ${show(second.value)}; two numbers for one process: remove the wrong one`,
    )
  }
  return first.node
}

interface Source {
  readonly variable: string
  readonly value: string
  readonly node: number
}

function readSources(sources: unknown): string | undefined {
  if (typeof sources !== 'object' || sources === null) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `the sources are ${show(sources)}; pass an object such as { statefulSet: 'web' }`,
    )
  }
  for (const key of Object.keys(sources)) {
    if (key !== 'statefulSet') {
      throw typeError('ERR_OPTION_UNKNOWN', `there is no source ${show(key)}; the only one is statefulSet`)
    }
  }
  const { statefulSet } = ownProperties(
    sources as { statefulSet?: unknown },
    ['statefulSet'],
    'ERR_OPTION_INVALID',
    'the source',
  )
  // RFC 1123, as Kubernetes wants it of what pods are named after.
  if (
    statefulSet !== undefined &&
    !(typeof statefulSet === 'string' && /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(statefulSet))
  ) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `statefulSet is ${show(statefulSet)}; pass the name of the StatefulSet: small letters, digits, - and .`,
    )
  }
  return statefulSet as string | undefined
}

/** @throws TypeError, RangeError `ERR_NODE_INVALID` */
function fromVariable(): Source | undefined {
  const value = platform.environmentVariable(nodeVariable)
  if (value === undefined) return undefined
  const node = wholeNumber(value)
  if (node === undefined) {
    throw typeError(
      'ERR_NODE_INVALID',
      `${nodeVariable} is ${show(value)}; set it to a whole number in plain digits, such as 7, without sign, blank or leading zero`,
    )
  }
  return { variable: nodeVariable, value, node }
}

/** @throws RangeError `ERR_NODE_INVALID` */
function fromPod(statefulSet: string): Source | undefined {
  // With hostNetwork the host's name is that of the machine, and not the pod's.
  const podName = platform.environmentVariable('POD_NAME')
  const variable = podName === undefined ? 'HOSTNAME' : 'POD_NAME'
  const value = podName ?? platform.environmentVariable('HOSTNAME')
  if (value === undefined) return undefined
  const node = value.startsWith(`${statefulSet}-`) ? wholeNumber(value.slice(statefulSet.length + 1)) : undefined
  if (node !== undefined) return { variable, value, node }
  // A developer's machine has a name, too, and GRAUPEL_NODE.
  if (podName === undefined && platform.environmentVariable(nodeVariable) !== undefined) return undefined
  throw rangeError(
    'ERR_NODE_INVALID',
    `${variable} is ${show(value)}; a pod of the StatefulSet ${show(statefulSet)} has the name ${show(`${statefulSet}-7`)}, with its ordinal for 7: pass the right name, set POD_NAME from metadata.name, or set ${nodeVariable}`,
  )
}

function wholeNumber(text: string): number | undefined {
  if (!/^(0|[1-9][0-9]*)$/.test(text)) return undefined
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : undefined
}

function missing(statefulSet: string | undefined): TypeError {
  const names = statefulSet === undefined ? `${nodeVariable} is` : `${nodeVariable}, POD_NAME and HOSTNAME are`
  const remedy = `set ${nodeVariable} to a number that no other process has (docs/nodes.md), or lease one (docs/leases.md)`
  return typeError(
    'ERR_NODE_REQUIRED',
    `the environment has no number for this process: ${names} not set; ${[...clues(), remedy].join('; ')}`,
  )
}

/** What is there instead, and why it does not count. */
function clues(): string[] {
  const seen = (variable: string, why: string) => {
    const value = platform.environmentVariable(variable)
    return value === undefined ? [] : [`${variable} is ${show(value)}, and ${why}`]
  }
  const pod = ['POD_NAME', 'HOSTNAME'].find((name) => /-[0-9]+$/.test(platform.environmentVariable(name) ?? ''))
  return [
    ...(pod === undefined
      ? []
      : seen(pod, 'its end may be random: if this is a pod of a StatefulSet, pass the name of that as statefulSet')),
    ...seen('NOMAD_ALLOC_INDEX', 'two allocations may have one index: lease a node'),
    ...seen('ECS_CONTAINER_METADATA_URI_V4', 'Amazon ECS gives its tasks no number: lease a node'),
  ]
}
