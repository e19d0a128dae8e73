import { BadRequestException, Body, Controller, Get, Inject, NotFoundException, Param, Post } from '@nestjs/common'
import type { IdGenerator } from 'graupel'
import Database from 'libsql'
import { IdPipe } from './id.pipe.js'
import { IDS } from './ids.module.js'

const database = new Database(process.env.DATABASE_FILE ?? 'orders.db')
database.exec('PRAGMA busy_timeout = 5000')
database.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO orders (id, item) VALUES (?, ?)')
const select = database.prepare('SELECT item FROM orders WHERE id = ?')

@Controller('orders')
export class OrdersController {
  constructor(@Inject(IDS) private readonly ids: IdGenerator) {}

  @Post()
  async create(@Body('item') item: unknown) {
    if (typeof item !== 'string') throw new BadRequestException('give an item')
    const id = await this.ids.nextAsync() // a bigint, as the database takes it
    insert.run(id, item)
    return { id: String(id), item } // a number of JSON would lose its last digits
  }

  @Get(':id')
  find(@Param('id', IdPipe) id: bigint) {
    const [row] = select.all(id) as { item: string }[]
    if (row === undefined) throw new NotFoundException('there is no such order')
    return { id: String(id), item: row.item, createdAt: this.ids.decode(id).timestamp }
  }
}
