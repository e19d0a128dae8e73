import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodeFromEnvironment } from 'graupel'
import { afterAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import type { Options } from '../../server/src/options/table.ts'
import { configured, isWorkload, type Resource, read, resources, root } from './support/deployed.ts'
import { makeService, optionsOf } from './support/in-process.ts'

const load = createRequire(import.meta.url)
const all = resources()
const workloads = all.filter(isWorkload)
/** The objects of Kubernetes, without the objects of the Prometheus operator. */
const standard = all.filter(({ content }) => content.kind !== 'ServiceMonitor')
const find = (kind: string) => (all.find(({ content }) => content.kind === kind) as Resource).content

/** Types find unknown fields, because tsc refuses them in literals. The schema of Kubernetes allows them. */
const checked = join(root, 'node_modules/.cache')
mkdirSync(checked, { recursive: true })
const sources = mkdtempSync(join(checked, 'graupel-kubernetes-'))
afterAll(() => rmSync(sources, { recursive: true, force: true }))

const modelOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
  `kubernetes-models/${apiVersion}/${kind}`

// biome-ignore lint/suspicious/noExplicitAny: what the schema is there to check
function validate(content: any): void {
  const Model = load(modelOf(content))[content.kind]
  new Model(content).validate()
}

/** Returns a copy with one fault. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function mutated({ file, content }: Resource, spoil: (content: any) => void): Resource {
  const copy = structuredClone(content)
  spoil(copy)
  return { file, content: copy }
}

/** Resolves to the indices of the objects in which tsc finds a fault. */
async function faulty(objects: readonly Resource[]): Promise<Map<number, string>> {
  for (const [index, { content }] of objects.entries()) {
    const source = `import type { I${content.kind} as T } from '${modelOf(content)}'\nexport const it: T = ${JSON.stringify(content, null, 1)}\n`
    writeFileSync(join(sources, `object-${index}.ts`), source)
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'NodeNext',
    target: 'ES2022',
    types: [],
  }
  writeFileSync(join(sources, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', sources, '--pretty', 'false'])
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  const found = stdout.matchAll(/object-(\d+)\.ts\(\d+,\d+\): error (.+)/g)
  const faults = new Map(Array.from(found, ([, index, message]) => [Number(index), message as string]))
  if (faults.size === 0 && stdout !== '') throw new Error(stdout)
  return faults
}

function optionsOfPod({ content }: Resource): Options {
  const [container] = content.spec.template.spec.containers
  // The options that the secret may set.
  const isBySecret = container.env?.some(({ name }: { name: string }) => name === 'GRAUPEL_OPTION_STORE')
  const environment = isBySecret ? { GRAUPEL_OPTION_STORE: 'redis://:password@redis:6379' } : {}
  return optionsOf(configured(container.args, all), environment)
}

test('each object conforms to the schema of Kubernetes', () => {
  expect(standard.length).toBeGreaterThan(8)
  for (const { file, content } of standard) expect(() => validate(content), `${file}: ${content.kind}`).not.toThrow()
})

test('the schema refuses wrong types and wrong quantities', () => {
  const [deployment] = workloads as [Resource]
  for (const spoil of [
    (content) => (content.spec.replicas = '3'),
    (content) => delete content.spec.selector,
    (content) => (content.spec.template.spec.containers[0].resources.limits.memory = '256 MB'),
    (content) => (content.spec.template.spec.securityContext.runAsUser = 'node'),
    (content) => (content.spec.template.spec.containers[0].livenessProbe.httpGet.path = 1),
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ] as ((content: any) => unknown)[]) {
    expect(() => validate(mutated(deployment, spoil).content), `${spoil}`).toThrow()
  }
})

test('no object has a field unknown to Kubernetes', async () => {
  const [deployment] = workloads as [Resource]
  const wrong = [
    mutated(deployment, (content) => (content.spec.replica = 3)),
    mutated(deployment, (content) => (content.spec.template.spec.containers[0].comand = ['node'])),
    mutated(
      deployment,
      (content) => (content.spec.template.spec.containers[0].securityContext.readonlyRootFilesystem = true),
    ),
  ]
  const faults = await faulty([...standard, ...wrong])
  expect([...faults.entries()].filter(([index]) => index < standard.length)).toEqual([])
  expect([...faults.keys()].sort((a, b) => a - b)).toEqual(wrong.map((_, index) => standard.length + index))
})

test('the service accepts the flags of each pod, and has the time that it takes to end', () => {
  expect(workloads.map(({ file }) => file)).toEqual([
    'deployment-cluster-leases.yaml',
    'deployment.yaml',
    'statefulset.yaml',
  ])
  for (const workload of workloads) {
    const { content } = workload
    const options = optionsOfPod(workload)
    const { spec } = content.spec.template
    const [container] = spec.containers
    expect(container.ports).toEqual([
      { name: 'http', containerPort: options.port },
      { name: 'admin', containerPort: options.adminPort },
    ])
    const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
    expect(mounts.some((path: string) => options.tokenFile?.startsWith(`${path}/`))).toBe(true)
    const { drainMs, shutdownTimeoutMs } = options
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drainMs + shutdownTimeoutMs + 7000)
    // Kubernetes notices that a pod is not ready before the pod stops, even if each probe takes its longest
    // time. One late probe takes no pod out.
    const { periodSeconds, timeoutSeconds, failureThreshold } = container.readinessProbe
    expect(failureThreshold).toBeGreaterThan(1)
    expect(drainMs).toBeGreaterThan(failureThreshold * (periodSeconds + timeoutSeconds) * 1000)
  }
})

test('every pod runs without rights, and sees no variables of other services', () => {
  for (const { file, content } of workloads) {
    const { spec } = content.spec.template
    const [container] = spec.containers
    expect(spec.enableServiceLinks, file).toBe(false)
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(spec.automountServiceAccountToken === false).toBe(spec.serviceAccountName === undefined)
    expect(container.resources.limits.memory).toBeDefined()
  }
})

test('probes and scrapes ask for existing routes on the admin port', async () => {
  const { app } = await makeService()
  await app.ready()
  for (const { content } of workloads) {
    const [container] = content.spec.template.spec.containers
    for (const [name, url] of [
      ['startupProbe', '/livez'],
      ['livenessProbe', '/livez'],
      ['readinessProbe', '/readyz'],
    ] as const) {
      expect(container[name].httpGet).toEqual({ path: url, port: 'admin' })
      expect(app.hasRoute({ method: 'GET', url })).toBe(true)
    }
  }
  const [endpoint] = find('ServiceMonitor').spec.endpoints
  expect(find('Service').spec.ports.map(({ name }: { name: string }) => name)).toContain(endpoint.port)
  expect(app.hasRoute({ method: 'GET', url: endpoint.path })).toBe(true)
})

test('services, budgets, policies and monitors select the pods of every workload', () => {
  const selectors = [
    ...all.filter(({ content }) => content.kind === 'Service').map(({ content }) => content.spec.selector),
    find('PodDisruptionBudget').spec.selector.matchLabels,
    find('NetworkPolicy').spec.podSelector.matchLabels,
    ...workloads.map(({ content }) => content.spec.selector.matchLabels),
  ]
  for (const { content } of workloads) {
    for (const selector of selectors) expect(content.spec.template.metadata.labels).toEqual(selector)
  }
  expect(find('Service').metadata.labels).toMatchObject(find('ServiceMonitor').spec.selector.matchLabels)
})

test('a pod of the StatefulSet has its ordinal as its node, a database of its own, and no numbers', () => {
  const workload = workloads.find(({ content }) => content.kind === 'StatefulSet') as Resource
  const { content } = workload
  const options = optionsOfPod(workload)
  vi.stubEnv('POD_NAME', `${content.metadata.name}-2`)
  expect(nodeFromEnvironment({ statefulSet: options.statefulSet as string })).toBe(2)
  vi.unstubAllEnvs()
  expect(options.store).toBeUndefined()
  const [container] = content.spec.template.spec.containers
  const data = container.volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === options.data)
  expect(data.name).toBe(content.spec.volumeClaimTemplates[0].metadata.name)
  expect(options.segments).toEqual({})
  expect(options.counters).toEqual({})
  const headless = all.find((one) => one.content.metadata.name === content.spec.serviceName) as Resource
  expect(headless.content.spec.clusterIP).toBe('None')
})

test('pods that lease from the cluster have the rights that the library asks for, and no others', () => {
  const workload = workloads.find(({ file }) => file === 'deployment-cluster-leases.yaml') as Resource
  expect(optionsOfPod(workload).store).toBe('kubernetes:')
  const account = workload.content.spec.template.spec.serviceAccountName
  expect(find('ServiceAccount').metadata.name).toBe(account)
  expect(find('RoleBinding').subjects).toEqual([{ kind: 'ServiceAccount', name: account }])
  expect(find('RoleBinding').roleRef.name).toBe(find('Role').metadata.name)
  const [, role] = readFileSync(join(root, 'examples/kubernetes-rbac.yaml'), 'utf8').split('---\n')
  expect(find('Role').rules).toEqual(parse(role ?? '').rules)
  expect(read('kubernetes/deployment-cluster-leases.yaml')).not.toContain('GRAUPEL_OPTION_STORE')
})
