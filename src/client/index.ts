export { connect } from './client.js'
export type { BaseClient, ClientStats, IdClient, LayoutClient, NumberClient } from './id-client.js'
export type { ClientFetch, CommonOptions, ConnectOptions, SegmentConnectOptions, Token } from './options.js'
export type { ServerStats } from './server.js'
