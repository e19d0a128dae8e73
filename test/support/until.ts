/** Waits until something holds; looks again every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, maxMs = 30_000): Promise<void> {
  const endMs = performance.now() + maxMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`within ${maxMs} ms it did not come to hold that ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
