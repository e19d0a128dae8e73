/** A part of a paste: a text that may be an id, or a fault. */
export interface Part {
  /** An id in any encoding, a UUID or a text of a kind, if there is no fault. */
  readonly text: string
  /** The preset that made the id, if the text around it says so. */
  readonly layout?: string
  readonly fault?: PastedFault
}

/** A fault that is found before the encoding of the ids is known. */
type PastedFault =
  /** The text has more than its ids, and the rest is left out. */
  | { readonly key: 'troubleLeft'; readonly values: { readonly text: string; readonly taken: string } }
  /** The text has several words, and none is an id. */
  | { readonly key: 'troubleNoIds' }
  /** The address leads to a tweet from before Snowflake. */
  | { readonly key: 'troubleOldTweet'; readonly values: { readonly id: string } }
