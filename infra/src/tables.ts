/** The tables as the services declare them. They outlive the stack. */
import { CfnResource, type Stack } from 'aws-cdk-lib'
import type { CfnKey } from 'aws-cdk-lib/aws-kms'
import { logicalId, tableProperties } from '@strongroom/kit/cloudformation'
import type { Table } from '@strongroom/kit/table'

/**
 * Tables without secrets, tokens, credentials or contents of requests. They are encrypted by a key that
 * DynamoDB owns, which costs nothing.
 */
const WITHOUT_SECRETS: ReadonlySet<string> = new Set([
  'slack-existence-check-cache',
  'slack-event-dedupe',
])

export interface DeployedTables {
  arnOf(table: Table, index?: string): string
  nameOf(table: Table): string
  streamOf(table: Table): string
  /** Whether the table is encrypted by the customer's key. */
  hasCustomerKey(table: Table): boolean
  all: readonly Table[]
}

export function createTables(
  stack: Stack,
  tables: readonly Table[],
  { prefix, environment, key }: { prefix: string; environment: string; key: CfnKey },
): DeployedTables {
  const hasCustomerKey = ({ name }: Table) => !WITHOUT_SECRETS.has(name)
  const resources = new Map(
    tables.map((table) => {
      const { Tags = [], ...properties } = tableProperties(table)
      const own = Tags.filter(({ Key }) => Key !== 'Environment')
      const resource = new CfnResource(stack, logicalId(table), {
        type: 'AWS::DynamoDB::Table',
        properties: {
          TableName: prefix + table.name,
          ...properties,
          SSESpecification: hasCustomerKey(table)
            ? { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: key.attrArn }
            : { SSEEnabled: false },
          Tags: [...own, { Key: 'Environment', Value: environment }],
        },
      })
      resource.addOverride('DeletionPolicy', 'Retain')
      resource.addOverride('UpdateReplacePolicy', 'Retain')
      return [table.name, resource] as const
    }),
  )
  const resourceOf = ({ name }: Table): CfnResource => {
    const found = resources.get(name)
    if (!found) throw new TypeError(`The stack has no table ${name}`)
    return found
  }
  const arnOf = (table: Table) => resourceOf(table).getAtt('Arn').toString()
  return {
    arnOf: (table, index) =>
      index === undefined ? arnOf(table) : `${arnOf(table)}/index/${index}`,
    nameOf: (table) => resourceOf(table).ref,
    streamOf: (table) => resourceOf(table).getAtt('StreamArn').toString(),
    hasCustomerKey,
    all: tables,
  }
}
