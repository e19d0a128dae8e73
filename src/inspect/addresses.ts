import type { Part } from './part.js'
import { readShortcode } from './shortcode.js'

/** The presets of sites, by the last two names of a host. */
const sites = new Map([
  ['twitter.com', 'twitter'],
  ['x.com', 'twitter'],
  ['twimg.com', 'twitter'],
  ['discord.com', 'discord'],
  ['discordapp.com', 'discord'],
  ['discordapp.net', 'discord'],
  ['instagram.com', 'instagram'],
  ['threads.net', 'instagram'],
  ['threads.com', 'instagram'],
])

/** The paths of posts on servers of Mastodon, whose hosts have any name. */
const mastodonPath = /^\/(?:@[^/]+|(?:web|users\/[^/]+)\/statuses)\/\d+/

/** The first id of Twitter that Snowflake made, in November 2010. */
const firstTweet = 29_700_859_247n

/**
 * Returns the id that an address leads to: the last number of its path, because the id of a Discord message
 * stands behind the ids of its server and channel; `undefined` if it has no id.
 */
export function addressedId(address: string): Part | undefined {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#:]+)[^/?#]*([^?#]*)/i.exec(address) ?? []
  const layout =
    sites.get(host.toLowerCase().split('.').slice(-2).join('.')) ?? (mastodonPath.test(path) ? 'mastodon' : undefined)
  const named = layout === undefined ? {} : { layout }
  const [, shortcode = ''] = (layout === 'instagram' && /\/(?:p|post|reels?|tv)\/([\w-]{11})(?![\w-])/.exec(path)) || []
  const ofPost = readShortcode(shortcode)
  if (ofPost !== undefined) return { text: String(ofPost), ...named }
  const [, tweet] = (layout === 'twitter' && /\/status(?:es)?\/(\d{1,14})\b/.exec(path)) || []
  if (tweet !== undefined) {
    const isOld = BigInt(tweet) < firstTweet
    return {
      text: tweet,
      ...named,
      ...(isOld && { fault: { key: 'troubleOldTweet', values: { id: tweet } } as const }),
    }
  }
  const text = path.match(/(?<=\/)\d{15,20}\b/g)?.at(-1) ?? address.match(/\b\d{15,20}\b/g)?.at(-1)
  return text === undefined ? undefined : { text, ...named }
}
