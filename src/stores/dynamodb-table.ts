import { platform } from '#platform'
import { GraupelError, reasonOf } from '../core/errors.js'
import { sleep } from '../core/timing.js'
import { type DynamodbCalls, missing, nameOf } from './dynamodb-client.js'

// The key of an item has the attributes `folder` and `name`.

/** The input of CreateTable. */
export function tableInput(table: string) {
  return {
    TableName: table,
    AttributeDefinitions: [
      { AttributeName: 'folder', AttributeType: 'S' },
      { AttributeName: 'name', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'folder', KeyType: 'HASH' },
      { AttributeName: 'name', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    DeletionProtectionEnabled: true,
  }
}

/** The command that creates the table. */
export function tableCommand(table: string): string {
  return [
    `aws dynamodb create-table --table-name ${table}`,
    `--attribute-definitions AttributeName=folder,AttributeType=S AttributeName=name,AttributeType=S`,
    `--key-schema AttributeName=folder,KeyType=HASH AttributeName=name,KeyType=RANGE`,
    '--billing-mode PAY_PER_REQUEST --deletion-protection-enabled',
  ].join(' ')
}

/** The table as a resource of CloudFormation, in YAML. */
export function cloudFormation(table: string): string {
  return `Resources:
  GraupelStore:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      TableName: ${table}
      AttributeDefinitions:
        - { AttributeName: folder, AttributeType: S }
        - { AttributeName: name, AttributeType: S }
      KeySchema:
        - { AttributeName: folder, KeyType: HASH }
        - { AttributeName: name, KeyType: RANGE }
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: true
`
}

/** The table as a resource of Terraform. */
export function terraform(table: string): string {
  return `resource "aws_dynamodb_table" "graupel_store" {
  name                        = "${table}"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "folder"
  range_key                   = "name"
  deletion_protection_enabled = true

  attribute {
    name = "folder"
    type = "S"
  }

  attribute {
    name = "name"
    type = "S"
  }
}
`
}

/** How often, and for how long, `setup()` looks whether its table can be used. */
const pollMs = 500
const readyMs = 60_000

/** A description of a table, as far as it is used. */
interface Description {
  readonly TableStatus?: string
  readonly TableArn?: string
  readonly TableId?: string
  readonly DeletionProtectionEnabled?: boolean
  readonly Replicas?: readonly unknown[]
  readonly MultiRegionConsistency?: string
}

/** The calls about the table itself. */
interface TableCalls {
  /** Creates the table if it is missing, and waits until it can be used. Needs `calls.hasTables`. */
  setup(): Promise<void>
  /** Looks at the table before the first write, and again if that failed. */
  look(signal: AbortSignal | undefined): Promise<void>
  place(signal?: AbortSignal): Promise<string>
  advice(signal?: AbortSignal): Promise<string[]>
}

/** @param ask - Makes a call about the table, and explains its errors. */
export function tableCalls(table: string, calls: DynamodbCalls, ask: DynamodbCalls['ask']): TableCalls {
  /** Describes the table; `undefined` if it is missing. */
  const describe = async (signal?: AbortSignal): Promise<Description | undefined> => {
    try {
      return (await ask('DescribeTable', {}, signal))['Table'] as Description
    } catch (error) {
      if (nameOf((error as Error).cause) === missing) return undefined
      throw error
    }
  }
  /** As `describe`; also `undefined` if client or user cannot describe tables, which leases do not need. */
  const described = async (signal: AbortSignal | undefined): Promise<Description | undefined> => {
    if (!calls.hasTables) return undefined
    try {
      return await describe(signal)
    } catch (error) {
      if (isDenied(error as Error)) return undefined
      throw error
    }
  }
  const refuseEventual = (found: Description | undefined) => {
    if (found === undefined || !isEventual(found)) return
    throw new GraupelError('ERR_STORE_UNSAFE', eventual(table))
  }
  const create = async () => {
    try {
      await ask('CreateTable', tableInput(table), undefined)
    } catch (error) {
      // Another process has created it.
      if (nameOf(error) === 'ResourceInUseException') return
      throw new GraupelError(
        'ERR_STORE_UNAVAILABLE',
        `setup() of the store 'dynamodb' failed (${reasonOf(error)}); let a user who may create tables run\n${tableCommand(table)}`,
        { cause: error },
      )
    }
  }

  let hasLooked = false
  return {
    async setup() {
      const untilMs = platform.monotonicMs() + readyMs
      let found = await describe()
      if (found === undefined) await create()
      while (found?.TableStatus !== 'ACTIVE' && found?.TableStatus !== 'UPDATING') {
        if (platform.monotonicMs() > untilMs) {
          throw new GraupelError(
            'ERR_STORE_UNAVAILABLE',
            `the table ${table} of DynamoDB is ${found?.TableStatus ?? 'missing'} after ${readyMs / 1000} s; try again`,
          )
        }
        await sleep(platform, pollMs)
        found = await describe()
      }
      refuseEventual(found)
    },
    async look(signal) {
      if (hasLooked) return
      refuseEventual(await described(signal))
      hasLooked = true
    },
    async place(signal) {
      const found = await described(signal)
      if (found !== undefined) return `table ${found.TableArn} (${found.TableId})`
      return `region ${await calls.region()}, account unknown, table ${table}`
    },
    async advice(signal) {
      const found = await described(signal)
      if (found === undefined) return []
      const advice = isEventual(found) ? [eventual(table)] : []
      if (found.DeletionProtectionEnabled !== true) {
        advice.push(
          `the table ${table} may be deleted, which forgets all nodes; run aws dynamodb update-table --table-name ${table} --deletion-protection-enabled`,
        )
      }
      return advice
    },
  }
}

function isDenied({ cause }: Error): boolean {
  return `${nameOf(cause)}`.startsWith('AccessDenied')
}

/** Whether two regions may give one node at the same time. */
function isEventual({ Replicas = [], MultiRegionConsistency }: Description): boolean {
  return Replicas.length > 0 && MultiRegionConsistency !== 'STRONG'
}

function eventual(table: string): string {
  return `the table ${table} is a global table whose regions are eventually consistent, so two regions may give one node; use a table of one region, or a strong one`
}
