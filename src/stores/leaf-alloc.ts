/** Placeholder until the table of Leaf is there. */
export interface LeafAllocStore {
  readonly name: 'leaf_alloc'
  takeSegment(tag: string, count: number | undefined, signal?: AbortSignal): Promise<{ first: bigint; count: number }>
}
