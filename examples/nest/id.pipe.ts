import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common'
import { layouts, parseId } from 'graupel'

/** Reads an id of a route: `@Param('id', IdPipe) id: bigint`. */
@Injectable()
export class IdPipe implements PipeTransform<string, bigint> {
  transform(text: string) {
    try {
      return parseId(text, 'decimal', layouts.twitter) // refuses what a BIGINT does not hold
    } catch (error) {
      throw new BadRequestException((error as Error).message)
    }
  }
}
