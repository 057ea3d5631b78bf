/**
 * The IAM policy of a server or worker that runs outside Lambda on DynamoDB and AWS KMS. Such a process
 * runs every function itself, so it may read and write all items, but it cannot delete a table.
 */
import type { KmsAction, TableAction } from '@strongroom/kit/data-model'
import type { PolicyStatement } from '@strongroom/kit/iam-policy'
import type { Table } from '@strongroom/kit/table'

export interface ServerPolicyOptions {
  tables: readonly Table[]
  prefix: string
  /** Any region unless given. */
  region?: string | undefined
  /** Names the account and the partition of the tables too. Any key unless given. */
  keyArn?: string | undefined
  /** Whether the process may create tables: `strongroom tables create`. */
  mayCreate?: boolean
}

const ITEM_ACTIONS: readonly TableAction[] = [
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'ConditionCheckItem',
]

/** A start compares the tables with their declarations. */
const VERIFY_ACTIONS = ['DescribeTable', 'DescribeTimeToLive', 'DescribeContinuousBackups']

const CREATE_ACTIONS = ['CreateTable', 'TagResource', 'UpdateTimeToLive', 'UpdateContinuousBackups']

const KMS_ACTIONS: readonly KmsAction[] = [
  'DescribeKey',
  'Encrypt',
  'Decrypt',
  'GenerateDataKeyWithoutPlaintext',
  'ReEncryptFrom',
  'ReEncryptTo',
]

export function serverPolicy(options: ServerPolicyOptions): object {
  const { tables, prefix, keyArn, mayCreate } = options
  const [, partition = 'aws', , keyRegion, account = '*'] = keyArn?.split(':') ?? []
  const region = options.region ?? keyRegion ?? '*'
  const arnOf = ({ name }: Table, index?: string) => {
    const arn = `arn:${partition}:dynamodb:${region}:${account}:table/${prefix}${name}`
    return index === undefined ? arn : `${arn}/index/${index}`
  }
  const anyKey = `arn:${partition}:kms:${region}:${account}:key/*`
  return {
    Version: '2012-10-17',
    Statement: serverStatements({ tables, arnOf, keyArn: keyArn ?? anyKey, mayCreate }),
  }
}

export function serverStatements({
  tables,
  arnOf,
  keyArn,
  mayCreate = false,
}: {
  tables: readonly Table[]
  arnOf: (table: Table, index?: string) => string
  keyArn: string
  mayCreate?: boolean | undefined
}): PolicyStatement<string>[] {
  const indexes = tables.flatMap((table) =>
    Object.keys(table.indexes ?? {}).map((index) => arnOf(table, index)),
  )
  const actions = [...VERIFY_ACTIONS, ...(mayCreate ? CREATE_ACTIONS : []), ...ITEM_ACTIONS]
  return [
    // Its only use is to find out whether DynamoDB can be reached. It has no resources in IAM.
    allow('dynamodb', ['ListTables'], ['*']),
    allow(
      'dynamodb',
      actions,
      tables.map((table) => arnOf(table)),
    ),
    ...(indexes.length > 0 ? [allow('dynamodb', ['Query'], indexes)] : []),
    allow('kms', KMS_ACTIONS, [keyArn]),
  ]
}

function allow(
  service: string,
  actions: readonly string[],
  resources: string[],
): PolicyStatement<string> {
  return {
    Effect: 'Allow',
    Action: actions.map((action) => `${service}:${action}`),
    Resource: resources,
  }
}
