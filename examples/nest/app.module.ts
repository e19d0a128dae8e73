import { Module } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { IdsFilter } from './ids.filter'
import { IdsModule } from './ids.module'
import { OrdersController } from './orders.controller'
import { OrdersService } from './orders.service'

@Module({
  // With ConfigModule: IdsModule.forRootAsync({ inject: [ConfigService], useFactory: (config) => ({ url:
  // config.getOrThrow('STORE_URL') }) })
  imports: [IdsModule.forRoot({ url: process.env.STORE_URL ?? 'sqlite:fleet.db' })],
  controllers: [OrdersController],
  providers: [OrdersService, { provide: APP_FILTER, useClass: IdsFilter }],
})
export class AppModule {}
