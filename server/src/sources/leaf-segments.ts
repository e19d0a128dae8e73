import { createSegmentGenerator, type SegmentGenerator, type SegmentOptions } from 'graupel/segments'
import { NameError } from './named.js'

/**
 * Segments of a row of Leaf's table. @param options - Checked at the start but for the name.
 *
 * @throws NameError where there is no such row; what `createSegmentGenerator` throws.
 */
export async function leafSegments(options: SegmentOptions): Promise<SegmentGenerator> {
  try {
    return await createSegmentGenerator(options)
  } catch (error) {
    if (Object(error).code !== 'ERR_OPTION_INVALID') throw error
    // The message of the library has the statement that makes the row, which is for those who have the database.
    throw new NameError(
      'ERR_NAME_UNKNOWN',
      "there is no segment of this name; rows of Leaf's table are made in the table",
    )
  }
}
