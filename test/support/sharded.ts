/** The fields of a layout with a tag above the sequence, which has to be chosen. */
export const shardedFields = [
  ['timestamp', 41],
  ['worker', 8],
  ['shard', 6, 'tag'],
  ['sequence', 8],
] as const
