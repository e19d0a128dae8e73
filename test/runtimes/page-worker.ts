import { useClient } from './use-client.mjs'

// This program is bundled for a Web Worker, which the page starts.

declare const self: { location: { origin: string }; postMessage(message: unknown): void }

useClient(`${self.location.origin}/ids`).then(
  (fetched) => self.postMessage(fetched),
  (error) => self.postMessage(`${error}`),
)
