/** What is wrong with something that was typed: a key of the messages, and what they show. */
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

/** Thrown where something typed cannot be read. */
export class Told extends Error {
  readonly trouble: Trouble

  constructor(key: TroubleKey, values: Trouble['values'] = {}) {
    super(key)
    this.trouble = { key, values }
  }
}

/** A text as a message shows it. */
export function shortened(text: string): string {
  return text.length > 44 ? `${text.slice(0, 40)}…` : text
}
