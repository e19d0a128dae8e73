import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common'
import { parseId } from 'graupel'

/** Reads an id of a route: `@Param('id', IdPipe) id: bigint`. */
@Injectable()
export class IdPipe implements PipeTransform<string, bigint> {
  transform(text: string) {
    try {
      return parseId(text, 'decimal')
    } catch (error) {
      throw new BadRequestException((error as Error).message)
    }
  }
}
