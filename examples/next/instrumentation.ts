// Next.js calls this once, when a server starts, and not while it builds.
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { ids } = await import('./ids')
  await ids()
}
