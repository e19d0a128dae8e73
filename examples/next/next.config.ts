import type { NextConfig } from 'next'

const config: NextConfig = {
  // Loaded from node_modules, with its binary, and not bundled.
  serverExternalPackages: ['graupel'],
}

export default config
