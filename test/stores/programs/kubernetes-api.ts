// The Leases of an API server, as a process that can be stopped and killed. It keeps them in a folder.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiOptions, KubernetesApi } from '../kinds/kubernetes-api.ts'

const [port = '', folder = '', token] = process.argv.slice(2)
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string]
const options: ApiOptions = {
  file: join(folder, 'leases'),
  ...(token !== undefined && { accounts: { [token]: ['get', 'list', 'create', 'update', 'delete'] } }),
  ...(existsSync(key) && { tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } }),
}
new KubernetesApi(options).server.listen(Number(port), '127.0.0.1')
