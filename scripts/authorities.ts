const hidden = 'GRAUPEL_CA_CERTS'

/**
 * Takes NODE_EXTRA_CA_CERTS from the processes that this one starts. With it, Node 20 reads all certificate
 * authorities at each start, which then takes three times as long. Programs that install packages need the
 * variable for their registry: `trustOfRegistry()` has it.
 */
export function hideAuthorities(): void {
  const file = process.env['NODE_EXTRA_CA_CERTS']
  if (file !== undefined) process.env[hidden] = file
  delete process.env['NODE_EXTRA_CA_CERTS']
}

/** Returns the variables by which a program of Node trusts its registry. */
export function trustOfRegistry(): { NODE_EXTRA_CA_CERTS?: string } {
  const file = process.env[hidden] ?? process.env['NODE_EXTRA_CA_CERTS']
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file }
}
