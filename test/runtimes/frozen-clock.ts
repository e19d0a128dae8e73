// The clocks of Cloudflare Workers: they stand still until the program has waited for I/O. In the open
// workerd they run, so this file comes before the program. Source:
// https://developers.cloudflare.com/workers/runtime-apis/performance/

const { Date: dates, performance: steps, setTimeout: startTimer } = globalThis
const [readWall, readMonotonic] = [dates.now.bind(dates), steps.now.bind(steps)]
/** Begins at the first request. Before it, the clock shows 1970. */
let wall: number | undefined
let monotonic: number | undefined

dates.now = () => {
  wall ??= readWall()
  return wall
}
Object.defineProperty(steps, 'now', {
  value: () => {
    monotonic ??= readMonotonic()
    return monotonic
  },
})
Object.defineProperty(globalThis, 'setTimeout', {
  value: (callback: () => void, ms?: number) =>
    startTimer(() => {
      wall = undefined
      monotonic = undefined
      callback()
    }, ms),
})

export {}
