import { fork } from 'node:child_process'

/**
 * Runs a module in a fresh process, and waits for its end.
 *
 * @template T
 * @param {URL} module - Has to send one message.
 * @param {readonly string[]} parameters
 * @param {readonly string[]} [nodeFlags]
 * @param {string} [execPath] - Another Node.
 * @returns {Promise<T>} The message.
 */
export function inFreshProcess(module, parameters, nodeFlags = [], execPath = process.execPath) {
  return new Promise((resolve, reject) => {
    /** @type {T | undefined} */
    let message
    const child = fork(module, parameters, { execArgv: [...nodeFlags], execPath })
    child.on('message', (value) => {
      message = /** @type {T} */ (value)
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (message !== undefined && code === 0) resolve(message)
      else
        reject(new Error(`${[module.pathname, ...parameters].join(' ')} ended with ${signal ?? `exit code ${code}`}`))
    })
  })
}
