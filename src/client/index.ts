export { connect } from './client.js'
export type {
  BaseClient,
  ClientOf,
  ClientStats,
  ClientView,
  IdClient,
  LayoutClient,
  NumberClient,
  TagClient,
} from './id-client.js'
export type { ClientFetch, CommonOptions, ConnectOptions, SegmentConnectOptions, Token } from './options.js'
export type { ServerStats } from './server.js'
