export { shortened } from '../../../src/inspect/pasted.ts'

/** A fault of a typed text: the key of a message and its values. */
export interface Trouble {
  readonly key: TroubleKey
  readonly values?: Readonly<Record<string, string | number | bigint>>
}

export type TroubleKey =
  | 'troubleNegative'
  | 'troubleRounded'
  | 'troubleTooLarge'
  | 'troubleWidth'
  | 'troubleCharacter'
  | 'troubleBytes'
  | 'troubleDecimal'
  | 'troubleNoId'
  | 'troubleNoIds'
  | 'troubleLeft'
  | 'troubleOther'
  | 'troubleOtherTime'
  | 'troubleOldTweet'
  | 'troubleUuid'
  | 'troubleTooWide'
  | 'troubleTime'
  | 'troubleTimeRange'
  | 'troubleBeforeEpoch'
  | 'troubleExpired'
  | 'troubleNumber'
  | 'troubleLayoutText'
  | 'troubleDecodeOnly'
  | 'troubleLibrary'
  | 'troubleBits'
  | 'troubleFieldName'
  | 'troubleFieldTwice'

/** The error for a typed text that cannot be read. */
export class Told extends Error {
  readonly trouble: Trouble

  constructor(key: TroubleKey, values: Trouble['values'] = {}) {
    super(key)
    this.trouble = { key, values }
  }
}
