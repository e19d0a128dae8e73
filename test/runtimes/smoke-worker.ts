import { parentPort, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'

const { namespace, count } = workerData
parentPort?.postMessage(createGenerator({ node: 7, namespace }).take(count))
