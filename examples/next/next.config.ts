import type { NextConfig } from 'next'

const config: NextConfig = {
  // Loaded from node_modules, and not bundled.
  serverExternalPackages: ['graupel'],
  // For output: 'standalone' and Vercel, which deploy only imports that they find: not all of graupel, and
  // not the client that openStore() loads. Add the client and its dependencies, or import the client in
  // ids.ts and pass it to its store.
  outputFileTracingIncludes: { '/*': ['node_modules/graupel/**', 'node_modules/node-gyp-build/**'] },
}

export default config
