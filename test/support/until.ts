/** Waits until a condition holds. Checks it every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, maxMs = 30_000): Promise<void> {
  const endMs = performance.now() + maxMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`after ${maxMs} ms this still does not hold: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
