// Times one import in a process that has done nothing else.
const [specifier = ''] = process.argv.slice(2)
const startMs = performance.now()
await import(specifier)
process.send?.(performance.now() - startMs)
process.disconnect?.()
