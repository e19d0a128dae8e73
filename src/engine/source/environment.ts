import { platform } from '#platform'
import { rangeError, show, typeError } from '../../core/errors.js'
import { readOptions } from '../../core/options.js'
import { namedNumbers, plainNumber } from '../../core/plain-numbers.js'

/** The variable that says which node a process is. @internal */
export const nodeVariable = 'GRAUPEL_NODE'

/** The variable that says that no other host and no other container has the node. */
const uniqueVariable = 'GRAUPEL_NODE_UNIQUE'

/** Whether the environment has given the ordinal of a pod, which Kubernetes gives to no other pod. */
let hasOrdinal = false

/** The sources of {@link nodeFromEnvironment} beside the variable `GRAUPEL_NODE`. */
export interface NodeSources {
  /**
   * The name of the Kubernetes StatefulSet of this pod. The number after this name in `POD_NAME` then counts,
   * or in `HOSTNAME` if there is no `POD_NAME`. The name is needed because a pod of a Deployment and a host
   * may have names that end in a number, too.
   */
  statefulSet?: string
}

/**
 * Reads the number that the platform has given to this process: `GRAUPEL_NODE`, or the ordinal of a pod of a
 * StatefulSet. It guesses nothing: it refuses a number that is missing or ambiguous. `docs/nodes.md` says how
 * to set the number on each platform.
 *
 * `createGenerator` reads `GRAUPEL_NODE` by itself. This function is for the ordinal, and for a number that
 * is a part of the node. It throws in browsers, which have no environment.
 *
 * @param sources - What counts beside `GRAUPEL_NODE`; nothing by default.
 * @returns A whole number from 0 up. It may be too large for a layout; `createGenerator` and `acquireLease`
 * check that.
 * @throws TypeError `ERR_NODE_REQUIRED` if no variable has a number; TypeError, RangeError `ERR_NODE_INVALID`
 * if a variable is not a number in plain digits, has the name of another pod, or contradicts another
 * variable; TypeError `ERR_OPTION_UNKNOWN`, `ERR_OPTION_INVALID`.
 * @example
 * process.env.POD_NAME = 'web-7' // by the manifest
 * const worker = nodeFromEnvironment({ statefulSet: 'web' })
 * createGenerator({ node: { datacenter: 1, worker } }).node // 39
 */
export function nodeFromEnvironment(sources?: NodeSources): number
/**
 * Reads a number for each field of the node, from the variables that you name. `GRAUPEL_NODE` must not be set
 * beside them: it is a node itself, also for several fields (`datacenter=1,worker=7`).
 *
 * @param variables - The variable of each field. A field cannot have the name `statefulSet` here.
 * @returns A whole number from 0 up for each field. The layout checks that it has these fields and room.
 * @throws TypeError `ERR_NODE_REQUIRED` if a variable is not set; TypeError, RangeError `ERR_NODE_INVALID` if
 * a variable is not a number in plain digits, or `GRAUPEL_NODE` is set, too; TypeError `ERR_OPTION_UNKNOWN`
 * for a value that is no name.
 * @example
 * process.env.DC = '1'
 * process.env.WORKER = '7'
 * createGenerator({ node: nodeFromEnvironment({ datacenter: 'DC', worker: 'WORKER' }) }).node // 39
 */
export function nodeFromEnvironment<F extends string>(
  variables: Readonly<Record<F, string>>,
): { readonly [K in F]: number }
export function nodeFromEnvironment(sources: object = {}): number | Record<string, number> {
  if (areVariables(sources)) return nodeFromVariables(sources)
  const statefulSet = statefulSetOf(sources as NodeSources)
  const given = nodeFromVariable()
  if (typeof given?.node === 'object') {
    throw typeError(
      'ERR_NODE_INVALID',
      `${nodeVariable} is ${show(given.value)}, a node of several fields, and one number was asked for; createGenerator reads it by itself, or set it to a whole number such as 7`,
    )
  }
  const pod = statefulSet === undefined ? undefined : nodeFromPod(statefulSet)
  const found = given ?? pod
  if (found === undefined) throw missing(statefulSet)
  if (given !== undefined && pod !== undefined && pod.node !== given.node) {
    throw rangeError(
      'ERR_NODE_INVALID',
      `${given.variable} is ${show(given.value)}, and ${pod.variable} is ${show(pod.value)}; two numbers for one process: remove the wrong one`,
    )
  }
  return found.node as number
}

/** Whether each property is the name of a variable, and none is an option. */
function areVariables(sources: object): sources is Readonly<Record<string, string>> {
  const entries = Object.entries(Object(sources) as object)
  const isVariable = ([name, value]: [string, unknown]) => typeof value === 'string' && name !== 'statefulSet'
  return typeof sources === 'object' && entries.length > 0 && entries.every(isVariable)
}

function nodeFromVariables(variables: Readonly<Record<string, string>>): Record<string, number> {
  const node: Record<string, number> = {}
  for (const [field, variable] of Object.entries(variables)) {
    const value = platform.environmentVariable(variable)
    if (value === undefined) {
      throw typeError(
        'ERR_NODE_REQUIRED',
        `the variable ${show(variable)}, which has the field '${field}' of the node, is not set; set it to a whole number such as 7`,
      )
    }
    node[field] = plainNumber(value) ?? refuse(variable, value, 'a whole number in plain digits, such as 7')
    noteOrdinal(node[field])
  }
  const whole = platform.environmentVariable(nodeVariable)
  if (whole === undefined) return node
  throw rangeError(
    'ERR_NODE_INVALID',
    `${nodeVariable} is ${show(whole)}, and ${Object.values(variables).join(' and ')} are a node, too; two nodes for one process: remove ${nodeVariable} or the other variables`,
  )
}

interface Found<Node = number> {
  readonly variable: string
  readonly value: string
  readonly node: Node
}

function statefulSetOf(sources: NodeSources): string | undefined {
  const { statefulSet } = readOptions(sources, ['statefulSet'], "{ statefulSet: 'web' }")
  // A name of Kubernetes: a label, or labels with dots between (RFC 1123).
  const isName = typeof statefulSet === 'string' && /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(statefulSet)
  if (statefulSet !== undefined && !isName) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `statefulSet is ${show(statefulSet)}; pass the name of the StatefulSet: small letters, digits, - and .`,
      'statefulSet',
    )
  }
  return statefulSet
}

/**
 * Reads `GRAUPEL_NODE`: a whole number, or one for each field of the node: `datacenter=1,worker=7`.
 *
 * @throws TypeError `ERR_NODE_INVALID`
 * @internal
 */
export function nodeFromVariable(): Found<number | Record<string, number>> | undefined {
  const value = platform.environmentVariable(nodeVariable)
  if (value === undefined) return undefined
  const wanted = 'a whole number in plain digits, such as 7, or one for each field, such as datacenter=1,worker=7'
  const node = value.includes('=')
    ? namedNumbers(value, () => refusal(nodeVariable, value, wanted))
    : (plainNumber(value) ?? refuse(nodeVariable, value, wanted))
  for (const number of typeof node === 'object' ? Object.values(node) : [node]) noteOrdinal(number)
  return { variable: nodeVariable, value, node }
}

function refusal(variable: string, value: string, wanted: string): TypeError {
  return typeError(
    'ERR_NODE_INVALID',
    `${variable} is ${show(value)}; set it to ${wanted}, without sign, blank or leading zero: a shell and YAML read 010 as 8`,
  )
}

function refuse(variable: string, value: string, wanted: string): never {
  throw refusal(variable, value, wanted)
}

/** Notes whether a number is the ordinal at the end of the name of the pod. */
function noteOrdinal(number: number): void {
  if (['POD_NAME', 'HOSTNAME'].some((name) => platform.environmentVariable(name)?.endsWith(`-${number}`)))
    hasOrdinal = true
}

/**
 * Whether the environment says that no other host and no other container has the node of this process:
 * `GRAUPEL_NODE_UNIQUE` is 1, or the node is the ordinal of a pod.
 *
 * @throws TypeError `ERR_OPTION_INVALID` if the variable has another value
 * @internal
 */
export function isNodeUnique(): boolean {
  const value = platform.environmentVariable(uniqueVariable)
  if (value === undefined) return hasOrdinal
  if (value === '1') return true
  throw typeError(
    'ERR_OPTION_INVALID',
    `${uniqueVariable} is ${show(value)}; set it to 1 if no other host or container has the node of this process, or remove it`,
  )
}

/** @throws RangeError `ERR_NODE_INVALID` */
function nodeFromPod(statefulSet: string): Found | undefined {
  // With hostNetwork, HOSTNAME is the name of the machine and not of the pod.
  const podName = platform.environmentVariable('POD_NAME')
  const variable = podName === undefined ? 'HOSTNAME' : 'POD_NAME'
  const value = podName ?? platform.environmentVariable('HOSTNAME')
  if (value === undefined) return undefined
  const node = value.startsWith(`${statefulSet}-`) ? plainNumber(value.slice(statefulSet.length + 1)) : undefined
  if (node !== undefined) {
    hasOrdinal = true
    return { variable, value, node }
  }
  // A developer's machine has a HOSTNAME, too, and sets GRAUPEL_NODE.
  if (podName === undefined && platform.environmentVariable(nodeVariable) !== undefined) return undefined
  throw rangeError(
    'ERR_NODE_INVALID',
    `${variable} is ${show(value)}; a pod of the StatefulSet ${show(statefulSet)} has the name ${show(`${statefulSet}-7`)}, with its ordinal in place of 7: set POD_NAME from metadata.name`,
  )
}

function missing(statefulSet: string | undefined): TypeError {
  const names = statefulSet === undefined ? `${nodeVariable} is` : `${nodeVariable}, POD_NAME and HOSTNAME are`
  const remedy = `set ${nodeVariable} to a number that no other process has (docs/nodes.md), or lease one (docs/leases.md)`
  return typeError(
    'ERR_NODE_REQUIRED',
    `the environment has no number for this process: ${names} not set; ${[...clues(), remedy].join('; ')}`,
  )
}

/** Lists variables that hold a number which does not count, and why it does not. */
function clues(): string[] {
  const clue = (variable: string, why: string) => {
    const value = platform.environmentVariable(variable)
    return value === undefined ? [] : [`${variable} is ${show(value)}, and ${why}`]
  }
  const pod = ['POD_NAME', 'HOSTNAME'].find((name) => /-[0-9]+$/.test(platform.environmentVariable(name) ?? ''))
  return [
    ...(pod === undefined
      ? []
      : clue(pod, 'its end may be random: if this is a pod of a StatefulSet, pass the name of that as statefulSet')),
    ...clue('NOMAD_ALLOC_INDEX', 'two allocations may have one index: lease a node'),
    ...clue('ECS_CONTAINER_METADATA_URI_V4', 'Amazon ECS gives its tasks no number: lease a node'),
  ]
}
