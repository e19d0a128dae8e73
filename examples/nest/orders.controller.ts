import { BadRequestException, Body, Controller, Get, Inject, NotFoundException, Param, Post } from '@nestjs/common'
import type { IdGenerator } from 'graupel'
import { IdPipe } from './id.pipe'
import { IDS } from './ids.module'
import { OrdersService } from './orders.service'

@Controller('orders')
export class OrdersController {
  constructor(
    @Inject(IDS) private readonly ids: IdGenerator,
    @Inject(OrdersService) private readonly orders: OrdersService,
  ) {}

  @Post()
  async create(@Body('item') item: unknown) {
    if (typeof item !== 'string') throw new BadRequestException('give an item')
    const id = await this.ids.nextAsync() // a bigint, as the database takes it
    this.orders.insert(id, item)
    return { id: String(id), item } // a number of JSON would lose its last digits
  }

  @Get(':id')
  find(@Param('id', IdPipe) id: bigint) {
    const item = this.orders.itemOf(id)
    if (item === undefined) throw new NotFoundException('there is no such order')
    return { id: String(id), item, createdAt: this.ids.decode(id).timestamp }
  }
}
