// Orders whose ids are made in the handlers of a NestJS app.
//
//   nest new shop && cd shop && npm install graupel libsql
//   copy these files into src, and: STORE_URL=sqlite:fleet.db PORT=3000 npm start
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// Start several of them: each leases a node of its own. STORE_URL may name another store, such as
// redis://127.0.0.1:6379. For an app of your own, ids.module.ts, ids.filter.ts and id.pipe.ts are enough.
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module'

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  app.enableShutdownHooks() // on SIGTERM: onApplicationShutdown, which releases the node
  await app.listen(process.env.PORT ?? 3000)
  console.log(await app.getUrl())
}
bootstrap()
