// As Cloudflare runs Workers: the clocks stand still until the program has waited for something. The open workerd lets
// them go, so this comes before the program. Source: https://developers.cloudflare.com/workers/runtime-apis/performance/

const { Date: dates, performance: steps, setTimeout: startTimer } = globalThis
const [readWall, readMonotonic] = [dates.now.bind(dates), steps.now.bind(steps)]
/** From when the program is asked to do something: before that, the clock shows 1970. */
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
