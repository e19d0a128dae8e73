// Orders whose ids are made in the handlers of a NestJS app.
//
//   nest new shop && cd shop && npm install graupel libsql
//   copy these files into src, and: STORE_URL=sqlite:fleet.db PORT=3000 npm start
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// Start several of them: each leases a node of its own. STORE_URL may name another store, such as redis://127.0.0.1:6379.
// For an app of your own, ids.module.ts, ids.filter.ts and id.pipe.ts are enough.
import { Module } from '@nestjs/common'
import { APP_FILTER, NestFactory } from '@nestjs/core'
import { IdsFilter } from './ids.filter.js'
import { IdsModule } from './ids.module.js'
import { OrdersController } from './orders.controller.js'

@Module({
  imports: [IdsModule],
  controllers: [OrdersController],
  providers: [{ provide: APP_FILTER, useClass: IdsFilter }],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  app.enableShutdownHooks() // on SIGTERM: onApplicationShutdown, which releases the node
  await app.listen(process.env.PORT ?? 3000)
  console.log(await app.getUrl())
}
bootstrap()
