// Ids on a node that is leased from the Kubernetes API, in a pod whose ServiceAccount kubernetes-rbac.yaml
// has made.
//
//   npm install graupel
//   node kubernetes.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Outside of a cluster, by the API that kubectl proxy
// serves:
//
//   KUBERNETES_URL=http://127.0.0.1:8001 KUBERNETES_NAMESPACE=default node kubernetes.mjs
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { kubernetesStore } from 'graupel/stores/kubernetes'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

// If neither is set, the store uses the cluster and the namespace of the pod.
const { KUBERNETES_URL: url, KUBERNETES_NAMESPACE: namespace } = process.env

// One write to etcd every 10 seconds, instead of every 2 seconds.
const lease = await acquireLease({ store: kubernetesStore({ url, namespace }), windowMs: 30_000 })
const ids = createGenerator({ lease })

const timer = setInterval(() => {
  try {
    console.log(ids.nextString())
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

// Aborted by release(), and if the lease is lost and no other node is free: then restart the service.
lease.signal.addEventListener('abort', () => clearInterval(timer))

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => lease.release())
