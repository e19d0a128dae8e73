export { type LeafAllocOptions, type LeafAllocStore, leafAllocStore } from '../stores/leaf-alloc.js'
