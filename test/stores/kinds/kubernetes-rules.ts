import { isDeepStrictEqual } from 'node:util'
import type { StoredLease } from './kubernetes-api.ts'

// What an API server checks in a Lease (k8s.io/apimachinery, pkg/util/validation), and how it applies a JSON Patch (RFC 6902).

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const maxAnnotations = 256 * 1024

/** Everything that is wrong in a Lease. */
export function faultsOf({ metadata, spec }: StoredLease): string[] {
  const { name, labels = {}, annotations = {} } = metadata
  const faults = []
  if (!subdomain.test(name) || name.length > 253) faults.push(`metadata.name: Invalid value: "${name}"`)
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualified(key)) faults.push(`metadata.labels: Invalid value: "${key}"`)
    if (typeof value !== 'string' || value.length > 63 || !labelValue.test(value)) {
      faults.push(`metadata.labels: Invalid value: "${value}"`)
    }
  }
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    if (!isQualified(key.toLowerCase()) || typeof value !== 'string') {
      faults.push(`metadata.annotations: Invalid value: "${key}"`)
    }
    size += Buffer.byteLength(key) + Buffer.byteLength(`${value}`)
  }
  if (size > maxAnnotations) faults.push('metadata.annotations: Too long')
  const holder = spec?.['holderIdentity']
  if (holder !== undefined && typeof holder !== 'string') faults.push('spec.holderIdentity: Invalid value')
  return faults
}

function isQualified(key: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').reverse()
  if (more.length > 0 || name.length > 63 || !qualified.test(name)) return false
  return prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix))
}

/** The Lease after a patch, or why one of the steps cannot be done; then none is. */
export function applyPatch(lease: StoredLease, steps: unknown): StoredLease | string {
  const patched = structuredClone(lease)
  for (const { op, path, value } of steps as { op: string; path: string; value: unknown }[]) {
    const names = path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = names.pop() ?? ''
    let parent = patched as unknown as Record<string, unknown>
    for (const name of names) {
      const next = parent[name]
      if (typeof next !== 'object' || next === null)
        return `${op} operation does not apply: doc is missing path: "${path}"`
      parent = next as Record<string, unknown>
    }
    if (op === 'add') parent[last] = value
    else if (op !== 'test') return `Unexpected kind: ${op}`
    else if (!isDeepStrictEqual(parent[last], value)) return `testing value ${path} failed: test failed`
  }
  return patched
}
