// Several processes of one app on one port, by pm2.
//
//   npm install -g pm2 && npm install graupel fastify libsql
//   pm2 start ecosystem.config.cjs
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//   pm2 reload shop
//
// The app is fastify.mjs as it is: each process leases a node of its own. express.mjs does as well.
module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'fastify.mjs',
      exec_mode: 'cluster',
      instances: 2,
      // The app listens when it has its node, and pm2 waits for that; so neither wait_ready nor
      // process.send('ready') is needed. Longer than the longest wait for a node. By default, pm2 ends the
      // old process after 3 s all the same.
      listen_timeout: 45_000,
      // From SIGINT to SIGKILL: for the requests under way, and to give the node back. By default 1.6 s.
      kill_timeout: 10_000,
      env: { PORT: process.env.PORT ?? 3000, STORE_URL: process.env.STORE_URL ?? 'sqlite:fleet.db' },
    },
  ],
}
