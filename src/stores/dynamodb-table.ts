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
