/**
 * English. Every language has these keys, and each text has the same lines: the first is a title, the others
 * are paragraphs or items. Code stands between grave accents.
 */
export const learnEn = {
  learn: 'Learn',
  learnLead: 'How a Snowflake id is made and taken apart.',
  learnLink: 'How it works',
  learnIdHint: 'Empty: an id of now.',
  learnNow: 'One of now',
  learnColumns: 'Step\nDecimal\nHexadecimal\nBits',
  learnWhat: `What it is
A Snowflake id is a whole number of at most 64 bits. A host makes it without asking anyone.
It has a time, the number of the host (the node), and a counter within the time (the sequence). Two ids differ in at least one of them.
The time stands first, so ids sort by time, as far as the clocks of the hosts agree.`,
  learnBits: `The bits
In {layout}, the timestamp has {timestampBits} bits: ticks of {tick} ms since {epoch}, for {years} years.
The node has {nodeBits} bits: {nodes} nodes, from 0 to {lastNode}. The sequence has {sequenceBits} bits: {perTick} ids a tick, {perSecond} ids a second on each node.
An id has {bits} bits. A signed 64-bit integer has room for 63: its first bit is the sign.`,
  learnMade: `How the number is made
The timestamp is the time now minus the epoch, in ticks. \`<<\` shifts each part to its place, and \`|\` joins them.`,
  learnApart: `How it is taken apart
\`>>\` shifts a part to the end, and \`&\` with a mask of ones cuts off what stands above it. Nothing in an id tells its layout: the reader has to know it.`,
  learnSteps: `The algorithm
Read the clock, and compute the tick.
If it is the tick of the last id, add 1 to the sequence.
If it is a later tick, begin the sequence at 0.
Keep tick and sequence for the next id.
Join tick, node and sequence.`,
  learnTroubles: `What can happen
Rollback: the clock was set back, to a tick whose numbers may be used. The generator refuses, waits, or counts on in its last tick.
Overflow: all {perTick} numbers of a tick are used. The generator waits for the next tick.
Two hosts with one number make the same id as soon as tick and sequence are the same. So each number needs one owner at a time, such as a lease in a database.`,
  learnPrimer: `Shifts, masks, two’s complement
\`x << 12\` moves the bits 12 places to the left: x × 4096. \`x >> 12\` moves them back, and drops the last 12.
\`a | b\` has the ones of both: a sum, if no place has two ones.
\`a & b\` has the ones that both have. The mask \`0xfff\` has 12 ones, so \`x & 0xfff\` is the last 12 bits.
In two’s complement −x has the bits of 2^64 − x, so −1 is all ones. \`-1 ^ (-1 << 5)\` in old code is 31: a mask of 5 ones.
JavaScript’s \`<<\`, \`>>\` and \`&\` cut numbers to 32 bits: use bigints.`,
  learnUse: 'How to use the page',
  learnWhen: `When to use such ids
For keys that many hosts make, that have 8 bytes and sort by time. Not as secrets, and not as numbers without gaps.
Orders: a service knows the id before it writes the row.
Messages: a list sorts by id, and goes on behind the last one that was seen.
Logs: a range of ids is a range of time.
Shards: rows have distinct ids in all databases, and can move.`,
  learnOthers: `Alternatives
122 random bits: no node numbers, and no order, which slows indexes down.
A time in ms and 74 random bits: sorts without node numbers, in twice the space.
A time in ms and 80 random bits, as 26 characters.
12 bytes: a time in seconds, a random number, a counter.
20 bytes: a time in seconds and 128 random bits.
The smallest numbers: one database gives them all, and they tell how many there are.`,
  learnLimits: `Limits
Clock: an id is as right as its host’s clock. NTP should slew it, not step it.
End: {layout} runs out on {expires}. A later epoch gives {years} years from then on.
Node numbers: at most {nodes}, each with one owner.
Sequence: if it begins at 0 in each tick, most ids of a quiet service are even, and \`id % n\` makes bad shards.
Order: a later id of another host can be smaller, if its clock is behind. After \`observe(id)\` of graupel, the next ids are larger than that id.
Guessing: an id tells its time and node, and others can be guessed. Check rights, or hide ids by a key.`,
  learnHistory: `History
In 2010 Twitter wanted to move from MySQL to Cassandra, which makes no ids.
Snowflake was a service in Scala, called by Thrift.
It had to make 10 000 ids a second in each process, within 2 ms, roughly in the order of time.
Its ids are above 2^53, so Twitter’s API got \`id_str\` for JavaScript.
Others changed the parts: Instagram’s node is a shard, Discord’s epoch is 2015, Sonyflake’s tick 10 ms; Baidu’s seconds ran out in 2024.
graupel keeps the bits, leases the node numbers, and remembers the last id through a restart.`,
  learnReferences: 'References',
  learnCode: `Code for {layout}
Encodes, decodes, and makes ids in whole numbers; its comments say what it does not do.`,
}

/** All texts of the view by their keys. */
export type LearnMessages = Readonly<Record<keyof typeof learnEn, string>>
