import type { NextConfig } from 'next'

const config: NextConfig = {
  // Loaded from node_modules, and not bundled.
  serverExternalPackages: ['graupel'],
  // For output: 'standalone' and Vercel, which deploy only what they see to be imported: not all of graupel, and no client that
  // openStore() loads. Add that and what it depends on, or import it in ids.ts and pass it to its store.
  outputFileTracingIncludes: { '/*': ['node_modules/graupel/**', 'node_modules/node-gyp-build/**'] },
}

export default config
