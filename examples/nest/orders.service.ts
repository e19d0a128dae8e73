import { Injectable } from '@nestjs/common'
import Database from 'libsql'

/** The orders in a database. */
@Injectable()
export class OrdersService {
  private readonly database = new Database(process.env.DATABASE_FILE ?? 'orders.db')

  constructor() {
    this.database.exec('PRAGMA busy_timeout = 5000')
    this.database.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)')
  }

  insert(id: bigint, item: string) {
    this.database.prepare('INSERT INTO orders (id, item) VALUES (?, ?)').run(id, item)
  }

  itemOf(id: bigint): string | undefined {
    const [row] = this.database.prepare('SELECT item FROM orders WHERE id = ?').all(id) as { item: string }[]
    return row?.item
  }
}
