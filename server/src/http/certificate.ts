import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Logger } from 'pino'
import { StartError } from '../failure.js'

/** A certificate chain and its private key, as `setSecureContext` takes them. */
export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
  /** The time in which every certificate of the chain is valid, in milliseconds since 1970. */
  readonly validFromMs: number
  readonly validToMs: number
}

/** Checks that the files are a certificate and its key. @throws StartError */
export function pairOf([cert = nothing, key = nothing]: readonly Buffer[]): Pair {
  try {
    createSecureContext({ cert, key })
    const all = (`${cert}`.match(inPem) ?? []).map((one) => new X509Certificate(one))
    return {
      cert,
      key,
      minVersion: 'TLSv1.2',
      validFromMs: Math.max(...all.map(({ validFrom }) => Date.parse(validFrom))),
      validToMs: Math.min(...all.map(({ validTo }) => Date.parse(validTo))),
    }
  } catch (error) {
    // OpenSSL's message, such as `error:0480006C:PEM routines::no start line`, names neither the rule nor a
    // remedy.
    const { message } = error as Error
    throw new StartError('ERR_OPTION_INVALID', `${message}; give a certificate chain in PEM and its private key`, error)
  }
}

/** Matches each certificate of a chain. */
const inPem = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----.+?-----END [A-Z0-9 ]*CERTIFICATE-----/gs

const nothing = Buffer.alloc(0)

const dayMs = 86_400_000

/**
 * Reports the dates of a certificate each day, until the returned function is called. @param present -
 * Returns the certificate in use.
 */
export function reportDatesDaily(present: () => Pair, logger: Logger, everyMs = dayMs): () => void {
  reportDates(present(), logger)
  const timer = setInterval(() => reportDates(present(), logger), everyMs).unref()
  return () => clearInterval(timer)
}

/**
 * Says in the log that clients refuse a certificate because of its dates, or will soon. The service uses it
 * nevertheless: not to start is worse, and the clock of the host may be wrong.
 */
export function reportDates({ validFromMs, validToMs }: Pair, logger: Logger): void {
  const nowMs = Date.now()
  const dates = { validFrom: new Date(validFromMs).toISOString(), validTo: new Date(validToMs).toISOString() }
  if (nowMs > validToMs) {
    logger.error(
      { event: 'certificate', ...dates },
      'the certificate has expired, and clients refuse it; renew --tls-cert',
    )
  } else if (nowMs < validFromMs) {
    logger.error(
      { event: 'certificate', ...dates },
      'the certificate is not valid yet, and clients refuse it; set the clock, or give another --tls-cert',
    )
  } else if (validToMs - nowMs < soonMs(validToMs - validFromMs)) {
    logger.warn({ event: 'certificate', ...dates }, 'the certificate expires soon; renew --tls-cert')
  }
}

/**
 * Returns the time before the end of a certificate in which its end is near: a week, and at most a quarter of
 * its life, because a certificate of a day is renewed each day. GraupelCertificateExpiring has the same rule.
 */
function soonMs(lifeMs: number): number {
  return Math.min(7 * dayMs, lifeMs / 4)
}
