import { GraupelError } from '../../errors.js'
import type { Answer, Question } from './api.js'

// What is said of an answer that is not the one that was asked for: in one line, and what to do.

/** GraupelError `ERR_STORE_UNAVAILABLE` where something has to be set right; else an Error, as the same call may succeed later. */
export function refusal(question: Question, answer: Answer): Error {
  const { verb, url, namespace } = question
  const { status, said } = answer
  const asked = `the Kubernetes API at ${url} answered ${status} when it was asked to ${verb} Leases in the namespace '${namespace}'`
  const reason = lineOf(answer.reason())
  const told = reason === '' ? asked : `${asked}: ${reason}`
  const final = (advice: string) => new GraupelError('ERR_STORE_UNAVAILABLE', `${told}; ${advice}`)
  switch (status) {
    case 401:
      return final('the token is missing, wrong or has expired: pass one that is valid in headers')
    case 403:
      return final(
        `a Role has to allow its user get, list, create and patch of leases in coordination.k8s.io: kubernetes-rbac.yaml in the examples of graupel has one`,
      )
    case 429:
    case 503: {
      const seconds = answer.header('retry-after')
      return new Error(seconds === null ? told : `${told}; it asks to wait for ${seconds} s`)
    }
  }
  if (status === 404 && said?.details?.kind === 'namespaces') return final('create the namespace, or pass another one')
  if (status >= 500 || said?.kind === 'Status') return new Error(told)
  return final('that is not how the API of Kubernetes answers: see whether url leads to it')
}

/** What is said where there is no answer. */
export function unreachable({ url }: Question, error: unknown): Error {
  // The message of fetch is 'fetch failed', and its cause has the reason.
  const reason = causeOf(error) as NodeJS.ErrnoException
  const told = `the Kubernetes API at ${url} cannot be reached: ${lineOf(reason.message || String(reason.code))}`
  if (!/CERT|SIGNATURE|ISSUER/.test(String(reason.code))) return new Error(told, { cause: error })
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `${told}; its certificate is not trusted: let NODE_EXTRA_CA_CERTS name the file of the cluster's authority when the process starts, or pass a fetch that trusts it`,
    { cause: error },
  )
}

function causeOf(error: unknown): unknown {
  const { cause } = Object(error)
  return cause instanceof Error ? causeOf(cause) : error
}

function lineOf(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
