import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { SigningClient } from '../../../src/stores/object/s3-fetch.js'
import { objectStore } from '../../../src/stores/object.js'
import { repository } from '../../support/documents.ts'
import { freePort, type Server, start } from '../servers.ts'
import { host, load, missingProgram, type Open } from './kind.ts'
import { bucket, s3Options } from './object.ts'

// Ceph's radosgw, a real S3 server. Only `--mode s3` starts it, by test/s3/ceph.sh.

/** The programs that `ceph.sh` runs, with their Debian packages. */
const programs = { radosgw: 'radosgw', 'ceph-mon': 'ceph-mon', 'ceph-osd': 'ceph-osd', ceph: 'ceph-common' }

export function missingCeph(): string | undefined {
  const missing = Object.entries(programs).map(([program, debian]) => missingProgram(program, '--version', debian))
  return missing.filter((name) => name !== undefined).join(', ') || undefined
}

/** The version of radosgw, such as `16.2.15`. */
export function cephVersion(): string {
  const said = execFileSync('radosgw', ['--version'], { encoding: 'utf8' })
  return /ceph version ([\d.]+)/.exec(said)?.[1] ?? said
}

/** Starts radosgw with the bucket of the tests. It has no `restart`, because its data end with it. */
export async function startCeph(): Promise<Pick<Server, 'port' | 'stop'>> {
  const monitorPort = await freePort()
  const script = join(repository, 'test/s3/ceph.sh')
  const server = await start({
    program: 'bash',
    words: (port, folder) => [script, folder, `${port}`, `${monitorPort}`],
  })
  const { S3 } = load('@aws-sdk/client-s3')
  const client = new S3(s3Options(server.port))
  await client.createBucket({ Bucket: bucket })
  client.destroy()
  return server
}

const unquoted = (tag: string) => tag.replaceAll('"', '')

/** Clients that send an ETag without its quotes. Ceph refuses a write whose If-Match has them. */
export const cephClients: Record<string, Open> = {
  async 'aws-sdk'(port) {
    const { S3 } = load('@aws-sdk/client-s3')
    const client = new S3(s3Options(port))
    // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK are not installed here
    const withoutQuotes = (next: any) => (args: any) => {
      const { headers } = args.request
      if (headers['if-match'] !== undefined) headers['if-match'] = unquoted(headers['if-match'])
      return next(args)
    }
    client.middlewareStack.add(withoutQuotes, { step: 'build', name: 'withoutQuotes' })
    return { store: objectStore({ client, bucket }), close: () => client.destroy() }
  },
  async aws4fetch(port) {
    const { AwsClient } = load('aws4fetch')
    const aws = new AwsClient({ accessKeyId: 'test', secretAccessKey: 'test', region: 'us-east-1' })
    const sign: SigningClient['sign'] = (url, { headers, ...init }) => {
      const { 'if-match': tag, ...rest } = headers
      return aws.sign(url, { ...init, headers: tag === undefined ? rest : { ...rest, 'if-match': unquoted(tag) } })
    }
    return { store: objectStore({ client: { sign }, url: `http://${host}:${port}/${bucket}` }), close() {} }
  },
}
