import { eventually } from '../support/until.ts'

// Administration of MySQL in the tests, beside the client under test.

type Rows = Record<string, unknown>[]

/** A pool of mysql2 with promises, or a connection of the pool. */
export interface Admin {
  query(text: string): Promise<[Rows, unknown]>
  getConnection(): Promise<Admin & { release(): void }>
  end(): Promise<void>
}

/** The variables of a server. */
export class Variables {
  readonly #admin: Admin
  /** The values before the changes. */
  #before: [string, unknown][] = []

  constructor(admin: Admin) {
    this.#admin = admin
  }

  /** Sets variables for new connections. */
  async set(variables: Record<string, string>): Promise<void> {
    for (const [name, value] of Object.entries(variables)) {
      const [[found]] = await this.#admin.query(`SELECT @@GLOBAL.${name} AS value`)
      this.#before.push([name, found?.['value']])
      await this.#admin.query(`SET GLOBAL ${name} = ${value}`)
    }
  }

  async restore(): Promise<void> {
    for (const [name, value] of this.#before.reverse()) {
      await this.#admin.query(`SET GLOBAL ${name} = ${typeof value === 'string' ? `'${value}'` : value}`)
    }
    this.#before = []
  }
}

/** Waits until this many statements wait for a lock. */
export async function waitsForLock(admin: Admin, count: number): Promise<void> {
  await eventually(async () => {
    const [[found]] = await admin.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
    if (Number(found?.['Value']) !== count) throw new Error(`${found?.['Value']} wait, and not ${count}`)
  })
}

/** Makes the table of leaf_alloc.sql of Leaf. @param type - The type of `max_id`. */
export async function makeLeafTable(
  admin: Admin,
  name = 'leaf_alloc',
  type = 'bigint(20)',
  engine = 'InnoDB',
): Promise<void> {
  await admin.query(
    `CREATE TABLE ${name} (biz_tag varchar(128) NOT NULL DEFAULT '', max_id ${type} NOT NULL DEFAULT '1', step int(11) NOT NULL, description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag)) ENGINE=${engine}`,
  )
}
