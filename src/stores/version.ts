/**
 * The version of a write: random, because a counter begins again when the database is restored from a copy or emptied, and a
 * version that comes twice lets a write land on a record that it has never seen. 122 bits (RFC 9562, version 4).
 */
export function newVersion(): string {
  return crypto.randomUUID()
}
