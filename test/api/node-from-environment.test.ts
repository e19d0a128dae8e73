import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { createGenerator, type NodeSources, nodeFromEnvironment } from 'graupel'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { caught } from '../support/engines.js'

const seen = [
  'DC',
  'WORKER',
  'GRAUPEL_NODE',
  'POD_NAME',
  'HOSTNAME',
  'NOMAD_ALLOC_INDEX',
  'ECS_CONTAINER_METADATA_URI_V4',
]

beforeEach(() => {
  for (const name of seen) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

function within<R>(variables: Record<string, string>, run: () => R): R {
  for (const name of seen) vi.stubEnv(name, variables[name])
  return run()
}

const web = { statefulSet: 'web' }
const node = (variables: Record<string, string>, sources?: NodeSources) =>
  within(variables, () => nodeFromEnvironment(sources))
const refusal = (variables: Record<string, string>, sources?: unknown) =>
  within(variables, () => caught(() => nodeFromEnvironment(sources as never)))

describe('nodeFromEnvironment', () => {
  it.each<[string, number, Record<string, string>, NodeSources?]>([
    ['GRAUPEL_NODE', 7, { GRAUPEL_NODE: '7' }],
    ['GRAUPEL_NODE, whatever the host is called', 7, { GRAUPEL_NODE: '7', HOSTNAME: 'web-9' }],
    ['the ordinal in POD_NAME', 12, { POD_NAME: 'web-12' }, web],
    ['the ordinal in HOSTNAME', 0, { HOSTNAME: 'web-0' }, web],
    ['POD_NAME if the pod has the network of its host', 3, { POD_NAME: 'web-3', HOSTNAME: 'ip-10-0-0-7' }, web],
    ['POD_NAME before HOSTNAME', 3, { POD_NAME: 'web-3', HOSTNAME: 'web-4' }, web],
    ['HOSTNAME beside an empty POD_NAME', 7, { POD_NAME: '', HOSTNAME: 'web-7' }, web],
    ['an ordinal of a name with digits and dashes', 5, { HOSTNAME: 'a-1-5' }, { statefulSet: 'a-1' }],
    ['GRAUPEL_NODE and POD_NAME if they agree', 7, { GRAUPEL_NODE: '7', POD_NAME: 'web-7' }, web],
    ["GRAUPEL_NODE on a developer's machine", 1, { GRAUPEL_NODE: '1', HOSTNAME: 'laptop' }, web],
  ])('takes %s', (_what, expected, variables, sources) => {
    expect(node(variables, sources)).toBe(expected)
  })

  it.each<[string, Record<string, string>, NodeSources | undefined, RegExp]>([
    ['nothing', {}, undefined, /GRAUPEL_NODE is not set; set GRAUPEL_NODE to a number that no other process has/],
    ['an empty GRAUPEL_NODE', { GRAUPEL_NODE: '' }, undefined, /GRAUPEL_NODE is not set/],
    ['nothing of a pod', {}, web, /GRAUPEL_NODE, POD_NAME and HOSTNAME are not set/],
    ['a name that may be random', { HOSTNAME: 'web-7' }, undefined, /HOSTNAME is 'web-7', and its end may be random/],
    ['a Deployment', { POD_NAME: 'web-5d9f7c-24678' }, undefined, /'web-5d9f7c-24678', and its end may be random/],
    ['an index of Nomad', { NOMAD_ALLOC_INDEX: '3' }, undefined, /NOMAD_ALLOC_INDEX is '3', and two allocations may/],
    ['a task of ECS', { ECS_CONTAINER_METADATA_URI_V4: 'http://x' }, undefined, /ECS gives its tasks no number/],
  ])('refuses %s, and says what is missing', (_what, variables, sources, message) => {
    const error = refusal(variables, sources)
    expect(error.code).toBe('ERR_NODE_REQUIRED')
    expect(error.message).toMatch(message)
  })

  it.each<[string, Record<string, string>, NodeSources | undefined, RegExp]>([
    ['two numbers', { GRAUPEL_NODE: '7', POD_NAME: 'web-8' }, web, /GRAUPEL_NODE is '7', and POD_NAME is 'web-8'; two/],
    ['a pod of another set', { POD_NAME: 'api-7' }, web, /POD_NAME is 'api-7'; a pod of .* 'web' has the name 'web-7'/],
    ['that beside GRAUPEL_NODE', { POD_NAME: 'api-7', GRAUPEL_NODE: '7' }, web, /POD_NAME is 'api-7'/],
    ['a pod of a Deployment', { HOSTNAME: 'web-5d9f7c-24678' }, web, /HOSTNAME is 'web-5d9f7c-24678'/],
    ['a pod of an Indexed Job', { POD_NAME: 'web-0-x7k2p' }, web, /POD_NAME is 'web-0-x7k2p'/],
    ['a host', { HOSTNAME: 'ip-10-0-0-7' }, web, /HOSTNAME is 'ip-10-0-0-7'/],
    ['a whole name of the domain', { HOSTNAME: 'web-7.web.default.svc' }, web, /HOSTNAME is 'web-7.web/],
    ['an ordinal with a zero', { HOSTNAME: 'web-07' }, web, /HOSTNAME is 'web-07'/],
    ['an ordinal with a sign', { HOSTNAME: 'web--7' }, web, /HOSTNAME is 'web--7'/],
    ['no ordinal', { HOSTNAME: 'web-' }, web, /HOSTNAME is 'web-'/],
    ['a bad variable beside a good name', { GRAUPEL_NODE: 'x', HOSTNAME: 'web-7' }, web, /GRAUPEL_NODE is 'x'/],
    ['what was not replaced', { GRAUPEL_NODE: '%i' }, undefined, /GRAUPEL_NODE is '%i'; set it to a whole number/],
    ['a node of several fields', { GRAUPEL_NODE: 'datacenter=1,worker=7' }, undefined, /and one number was asked for/],
  ])('refuses %s', (_what, variables, sources, message) => {
    const error = refusal(variables, sources)
    expect(error.code).toBe('ERR_NODE_INVALID')
    expect(error.message).toMatch(message)
  })

  it.each<[string, unknown, string]>([
    ['a source beside the name of a StatefulSet', { statefulSet: 'web', worker: 'WORKER' }, 'ERR_OPTION_UNKNOWN'],
    ['sources that are no object', 'statefulset', 'ERR_OPTION_INVALID'],
    ['null', null, 'ERR_OPTION_INVALID'],
    ['true for a name', { statefulSet: true }, 'ERR_OPTION_INVALID'],
    ['an empty name', { statefulSet: '' }, 'ERR_OPTION_INVALID'],
    ['a name that ends in a dash', { statefulSet: 'web-' }, 'ERR_OPTION_INVALID'],
  ])('refuses %s', (_what, sources, code) => {
    expect(refusal({ GRAUPEL_NODE: '7' }, sources).code).toBe(code)
  })

  const fields = { datacenter: 'DC', worker: 'WORKER' }

  it('reads the fields of a node from the variables that are named', () => {
    const variables = { DC: '1', WORKER: '7', HOSTNAME: 'laptop' }
    const found = within(variables, () => nodeFromEnvironment(fields))
    expect(found).toEqual({ datacenter: 1, worker: 7 })
    expect(createGenerator({ node: found, state: 'process' }).node).toBe(39)
  })

  it.each<[string, Record<string, string>, unknown, string, RegExp]>([
    [
      'a variable that is not set',
      { DC: '1' },
      fields,
      'ERR_NODE_REQUIRED',
      /'WORKER', .* field 'worker' .* is not set/,
    ],
    ['an empty variable', { DC: '', WORKER: '7' }, fields, 'ERR_NODE_REQUIRED', /'DC', .* field 'datacenter'/],
    ['no plain digits', { DC: '1', WORKER: '07' }, fields, 'ERR_NODE_INVALID', /WORKER is '07'; set it to a whole/],
    [
      'GRAUPEL_NODE beside them',
      { DC: '1', WORKER: '7', GRAUPEL_NODE: '39' },
      fields,
      'ERR_NODE_INVALID',
      /GRAUPEL_NODE is '39', and DC and WORKER are a node, too/,
    ],
    ['no name of a variable', { DC: '1' }, { datacenter: 1 }, 'ERR_OPTION_UNKNOWN', /no option 'datacenter'/],
    ['a misspelt source', {}, { statefulset: 'web' }, 'ERR_NODE_REQUIRED', /'web', .* field 'statefulset'/],
  ])('refuses %s', (_what, variables, sources, code, message) => {
    const error = refusal(variables, sources)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
  })

  it('takes plain digits only, and every number that is safe', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (number) => {
        expect(node({ GRAUPEL_NODE: String(number) })).toBe(number)
        expect(node({ POD_NAME: `web-${number}` }, web)).toBe(number)
      }),
    )
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+ 0.e1-9_]{1,20}$/)), (text) => {
        fc.pre(
          text !== '' &&
            !text.includes('\0') &&
            !(/^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(Number(text))),
        )
        expect(refusal({ GRAUPEL_NODE: text }).code).toBe('ERR_NODE_INVALID')
        expect(refusal({ POD_NAME: `web-${text}` }, web).code).toBe('ERR_NODE_INVALID')
      }),
    )
  })

  it('gives a part of a node, or all of it, which the layout checks', () => {
    const options = (worker: number) => ({ node: { datacenter: 2, worker }, state: 'process' as const })
    expect(createGenerator(options(node({ HOSTNAME: 'web-31' }, web))).node).toBe(95)
    const error = caught(() => createGenerator(options(node({ HOSTNAME: 'web-32' }, web))))
    expect(error.code).toBe('ERR_NODE_INVALID')
  })

  it('is not needed for GRAUPEL_NODE, which createGenerator reads, also with fields', () => {
    const open = () => createGenerator({ state: 'process' })
    const of = (GRAUPEL_NODE: string) => within({ GRAUPEL_NODE }, open).node
    expect(of('39')).toBe(39)
    expect(of('datacenter=1,worker=7')).toBe(39)
    for (const [text, message] of [
      ['datacenter=1', /^GRAUPEL_NODE has no 'worker'; /],
      ['datacenter=1,shard=7', /^GRAUPEL_NODE has a field 'shard'/],
      ['datacenter=1,worker=32', /^GRAUPEL_NODE's field 'worker' is 32/],
      ['5000', /^GRAUPEL_NODE is 5000; /],
      ['datacenter=1,worker=7,worker=8', /GRAUPEL_NODE is 'datacenter=1,worker=7,worker=8'; set it to a whole number/],
      ['datacenter=1,worker', /GRAUPEL_NODE is .*one for each field, such as/],
      ['datacenter=1,worker=', /GRAUPEL_NODE is/],
    ] as const) {
      const error = within({ GRAUPEL_NODE: text }, () => caught(open))
      expect(error.code).toBe('ERR_NODE_INVALID')
      expect(error.message).toMatch(message)
    }
  })

  it('throws in browsers, where there is no environment', () => {
    const code =
      "import('graupel').then((g) => g.nodeFromEnvironment({ statefulSet: 'web' })).catch((e) => console.log(e.code))"
    const { stdout } = spawnSync(process.execPath, ['--conditions=browser', '-e', code], {
      env: { ...process.env, GRAUPEL_NODE: '7', HOSTNAME: 'web-7' },
      encoding: 'utf8',
    })
    expect(stdout).toBe('ERR_NODE_REQUIRED\n')
  })
})
