/** What the role of a function allows: what the function declares, and what AWS does on its behalf. */
import { Fn, type Stack } from 'aws-cdk-lib'
import { CfnRole } from 'aws-cdk-lib/aws-iam'
import { type PolicyStatement, tableStatements } from '@strongroom/kit/iam-policy'
import type { Table } from '@strongroom/kit/table'
import type { LambdaFunction } from '@strongroom/lambda/functions'
import { allowancesOf, kmsActionsOf } from '@strongroom/lambda/permissions'
import type { Keys } from './keys.ts'
import type { DeployedTables } from './tables.ts'

/**
 * The statements that no call of a function uses, by their Sid, with the reason. The test of the
 * policies allows no others.
 */
export const ON_BEHALF_OF_THE_FUNCTION = {
  WriteLogs: 'Lambda writes what the function prints to its log group',
  ReadStream: 'Lambda reads the stream and calls the function with its records',
  ListStreams: 'Lambda finds the stream; the action has no resources in IAM',
  TableKey: 'DynamoDB decrypts the key of a table for the caller; it cannot be used otherwise',
} as const

type Statement = PolicyStatement<string> & { Sid?: string }

export interface RoleParts {
  tables: DeployedTables
  keys: Keys
  logGroupArn: string
}

export function createRole(
  stack: Stack,
  id: string,
  declared: LambdaFunction,
  parts: RoleParts,
): CfnRole {
  return new CfnRole(stack, id, {
    description: `Strongroom ${declared.name}: ${declared.summary}`,
    assumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
          Action: 'sts:AssumeRole',
        },
      ],
    },
    policies: [
      {
        policyName: 'function',
        policyDocument: { Version: '2012-10-17', Statement: statementsOf(declared, parts) },
      },
    ],
  })
}

function statementsOf(
  declared: LambdaFunction,
  { tables, keys, logGroupArn }: RoleParts,
): Statement[] {
  const allowances = allowancesOf(declared)
  const kms = kmsActionsOf(declared)
  const streams = declared.triggers.flatMap((trigger) =>
    trigger.kind === 'stream' ? [trigger.table] : [],
  )
  const encrypted = [...allowances.map(({ table }) => table), ...streams].some(
    tables.hasCustomerKey,
  )
  return [
    ...tableStatements(allowances, tables.arnOf),
    ...(kms.length > 0 ? [allow('kms', kms, [keys.own.attrArn])] : []),
    ...(encrypted ? [tableKeyStatement(keys.tables.attrArn)] : []),
    ...(streams.length > 0 ? streamStatements(streams, tables) : []),
    allow('logs', ['CreateLogStream', 'PutLogEvents'], [logGroupArn], 'WriteLogs'),
  ]
}

function streamStatements(streams: readonly Table[], tables: DeployedTables): Statement[] {
  const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator']
  return [
    allow('dynamodb', actions, streams.map(tables.streamOf), 'ReadStream'),
    allow('dynamodb', ['ListStreams'], ['*'], 'ListStreams'),
  ]
}

/** What AWS documents for callers of DynamoDB, on a table with a customer key. */
const TABLE_KEY_ACTIONS = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey*', 'ReEncrypt*']

/** Only through DynamoDB: the function itself cannot use the key. */
export function tableKeyStatement(keyArn: string): Statement {
  const via = Fn.sub('dynamodb.${AWS::Region}.amazonaws.com')
  return {
    ...allow('kms', TABLE_KEY_ACTIONS, [keyArn], 'TableKey'),
    Condition: { StringEquals: { 'kms:ViaService': [via] } },
  }
}

function allow(
  service: string,
  actions: readonly string[],
  resources: string[],
  sid?: keyof typeof ON_BEHALF_OF_THE_FUNCTION,
): Statement {
  return {
    ...(sid && { Sid: sid }),
    Effect: 'Allow',
    Action: actions.map((action) => `${service}:${action}`),
    Resource: resources,
  }
}
