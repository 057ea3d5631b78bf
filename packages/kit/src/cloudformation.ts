/** A CloudFormation template with the declared tables and a policy for each function. */
import type { ServiceFunction } from './data-model.ts'
import { createTableInput, type Table } from './table.ts'

export interface TemplateParts {
  tables: readonly Table[]
  /** By service name; each function gets a policy that allows only what it needs. */
  functions?: Readonly<Record<string, readonly ServiceFunction[]>>
  prefix?: string
}

export function cloudFormation({ tables, functions = {}, prefix = '' }: TemplateParts): object {
  const policies = Object.entries(functions).flatMap(([service, each]) =>
    each.map((one) => ({
      id: `${logicalId(`${service} ${one.name}`)}Policy`,
      resource: policyResource(service, one),
    })),
  )
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'The DynamoDB tables of Strongroom, and a policy for each function that uses them',
    Resources: {
      ...Object.fromEntries(
        tables.map((table) => [logicalId(table.name), tableResource(table, prefix)]),
      ),
      ...Object.fromEntries(policies.map(({ id, resource }) => [id, resource])),
    },
    Outputs: Object.assign(
      {},
      ...tables.map(tableOutputs),
      ...policies.map(({ id }) => ({ [`${id}Arn`]: { Value: { Ref: id } } })),
    ),
  }
}

function tableResource(table: Table, prefix: string): object {
  const { TableName, ...input } = createTableInput(table)
  return {
    Type: 'AWS::DynamoDB::Table',
    // Deleting a stack must never delete data.
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      TableName: prefix + TableName,
      ...input,
      ...(table.ttl && {
        TimeToLiveSpecification: { AttributeName: table.ttl, Enabled: true },
      }),
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: table.pointInTimeRecovery },
      SSESpecification: { SSEEnabled: true },
    },
  }
}

/** A policy to attach to the role of the function. */
function policyResource(service: string, { name, summary, allows }: ServiceFunction): object {
  return {
    Type: 'AWS::IAM::ManagedPolicy',
    Properties: {
      Description: `${service} ${name}: ${summary}`,
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: allows.flatMap(({ table, actions, indexes = [], leadingKeys }) => [
          ...(actions.length > 0 ? [statement(actions, [arn(table)], leadingKeys)] : []),
          // An index can only be queried.
          ...indexes.map((index) => statement(['Query'], [arn(table, index)], leadingKeys)),
        ]),
      },
    },
  }
}

function statement(
  actions: readonly string[],
  resources: object[],
  leadingKeys?: readonly string[],
): object {
  return {
    Effect: 'Allow',
    Action: actions.map((action) => `dynamodb:${action}`),
    Resource: resources,
    ...(leadingKeys && {
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } },
    }),
  }
}

function arn({ name }: Table, index?: string): object {
  const id = logicalId(name)
  if (index === undefined) return { 'Fn::GetAtt': [id, 'Arn'] }
  return { 'Fn::Sub': `\${${id}.Arn}/index/${index}` }
}

function tableOutputs({ name }: Table): object {
  const id = logicalId(name)
  return {
    [`${id}TableName`]: { Description: 'DynamoDB table name', Value: { Ref: id } },
    [`${id}TableArn`]: {
      Description: 'DynamoDB table ARN',
      Value: { 'Fn::GetAtt': [id, 'Arn'] },
    },
  }
}

/** `sealed-secrets` becomes `SealedSecrets`: logical ids are letters and digits only. */
function logicalId(name: string): string {
  return name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
