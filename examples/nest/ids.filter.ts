import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Logger } from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import { GraupelError } from 'graupel'

/**
 * Answers 503 if no id can be made now: the store was unreachable for too long, or the clock was set back.
 */
@Catch(GraupelError)
export class IdsFilter implements ExceptionFilter<GraupelError> {
  private readonly logger = new Logger(IdsFilter.name)

  constructor(@Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost) {}

  catch({ code, message, retryAfterMs = 0 }: GraupelError, host: ArgumentsHost) {
    this.logger.error(`${code}: ${message}`)
    const { httpAdapter } = this.adapterHost
    const response = host.switchToHttp().getResponse()
    httpAdapter.setHeader(response, 'Retry-After', `${Math.max(1, Math.ceil(retryAfterMs / 1000))}`)
    httpAdapter.reply(response, { message: 'try again later', code }, 503)
  }
}
