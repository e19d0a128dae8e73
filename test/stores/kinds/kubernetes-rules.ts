import type { StoredLease } from './kubernetes-api.ts'

// The checks of a Lease in an API server (k8s.io/apimachinery, pkg/util/validation), and its refusals.

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const maxAnnotations = 256 * 1024

/** Returns all faults of a Lease. */
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

/**
 * Returns the reason why a PUT may not replace a Lease, or `undefined`. If there is no Lease, the PUT creates
 * it (`AllowCreateOnUpdate`), and its resourceVersion does not matter.
 */
export function faultOfUpdate(
  found: StoredLease | undefined,
  at: { namespace: string; name: string },
  given: StoredLease,
) {
  const { name, namespace = at.namespace, uid, resourceVersion, creationTimestamp } = given.metadata
  if (name !== at.name) {
    const message = `the name of the object (${name}) does not match the name on the URL (${at.name})`
    return fault(400, 'BadRequest', message)
  }
  if (namespace !== at.namespace) {
    const message = 'the namespace of the provided object does not match the namespace sent on the request'
    return fault(400, 'BadRequest', message)
  }
  const own = found?.metadata
  if (uid !== undefined && uid !== own?.uid) {
    const uids = `UID in precondition: ${uid}, UID in object meta: ${own?.uid ?? ''}`
    return conflict(name, `Precondition failed: ${uids}`)
  }
  if (own === undefined) return undefined
  if (resourceVersion === undefined) {
    return invalid(name, ['metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'])
  }
  if (resourceVersion !== own.resourceVersion) {
    const advice = 'please apply your changes to the latest version and try again'
    return conflict(name, `the object has been modified; ${advice}`)
  }
  if (creationTimestamp !== undefined && creationTimestamp !== own.creationTimestamp) {
    return invalid(name, ['metadata.creationTimestamp: Invalid value: field is immutable'])
  }
  const faults = faultsOf(given)
  return faults.length > 0 ? invalid(name, faults) : undefined
}

/** Returns the reason why a Lease may not be deleted, or `undefined`. */
export function faultOfDelete(
  { metadata }: StoredLease,
  preconditions: { readonly uid?: string; readonly resourceVersion?: string },
) {
  for (const name of ['uid', 'resourceVersion'] as const) {
    const [wanted, own] = [preconditions[name], metadata[name]]
    if (wanted === undefined || wanted === own) continue
    return conflict(metadata.name, `Precondition failed: ${name} in precondition: ${wanted}, in object meta: ${own}`)
  }
  return undefined
}

/** Makes an error's Status object. */
export function fault(code: number, reason: string, message: string, details?: object) {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, details, code } }
}

export function invalid(name: string, faults: readonly string[]) {
  const message = `Lease.coordination.k8s.io "${name}" is invalid: ${faults.join(', ')}`
  return fault(422, 'Invalid', message, { name, kind: 'Lease' })
}

function conflict(name: string, why: string) {
  const message = `Operation cannot be fulfilled on leases.coordination.k8s.io "${name}": ${why}`
  return fault(409, 'Conflict', message, { name, group: 'coordination.k8s.io', kind: 'leases' })
}
