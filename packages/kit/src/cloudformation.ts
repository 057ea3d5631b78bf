/**
 * A CloudFormation template with the declared tables and nothing else, so that it stays below the
 * 51,200 bytes that `aws cloudformation deploy` sends without a bucket. Roles belong to `infra/`.
 */
import { createTableInput, type Table } from './table.ts'

export interface TemplateParts {
  tables: readonly Table[]
  /** The default of the parameter `Prefix`. */
  prefix?: string
  /** The table that the template is made for: its outputs are `TableName` and `TableArn`. */
  main?: Table | undefined
}

/** The tag whose value is a parameter of the template. */
const ENVIRONMENT = 'Environment'

export function cloudFormation({ tables, prefix = '', main }: TemplateParts): object {
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'The DynamoDB tables of Strongroom',
    Parameters: {
      Prefix: {
        Type: 'String',
        Default: prefix,
        MaxLength: 32,
        AllowedPattern: '[a-zA-Z0-9_.-]*',
        ConstraintDescription: 'use letters, digits, dots, hyphens and underscores',
        Description: 'Prefix of all table names; set STRONGROOM_TABLE_PREFIX to the same',
      },
      [ENVIRONMENT]: {
        Type: 'String',
        Default: 'production',
        MinLength: 1,
        MaxLength: 256,
        Description: 'Value of the tag Environment',
      },
    },
    Resources: Object.fromEntries(tables.map((table) => [logicalId(table), tableResource(table)])),
    Outputs: Object.assign({}, ...tables.map((table) => tableOutputs(table, table === main))),
  }
}

function tableResource(table: Table): object {
  const { Tags, ...properties } = tableProperties(table)
  return {
    Type: 'AWS::DynamoDB::Table',
    // Deleting a stack must never delete data.
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      TableName: { 'Fn::Sub': `\${Prefix}${table.name}` },
      ...properties,
      ...(Tags && {
        Tags: Tags.map((tag) =>
          tag.Key === ENVIRONMENT ? { ...tag, Value: { Ref: ENVIRONMENT } } : tag,
        ),
      }),
      SSESpecification: { SSEEnabled: true },
    },
  }
}

/** What CloudFormation needs to know about a table, except its name and its encryption. */
export function tableProperties(table: Table) {
  const { TableName: _name, StreamSpecification: stream, ...input } = createTableInput(table)
  return {
    ...input,
    // CloudFormation has no StreamEnabled: a stream that is specified is on.
    ...(stream && { StreamSpecification: { StreamViewType: stream.StreamViewType } }),
    ...(table.ttl && { TimeToLiveSpecification: { AttributeName: table.ttl, Enabled: true } }),
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: table.pointInTimeRecovery },
    DeletionProtectionEnabled: true,
  }
}

function tableOutputs(table: Table, isMain: boolean): object {
  const id = logicalId(table)
  const name = isMain ? 'Table' : id.endsWith('Table') ? id : `${id}Table`
  return {
    [`${name}Name`]: { Description: 'DynamoDB table name', Value: { Ref: id } },
    [`${name}Arn`]: { Description: 'DynamoDB table ARN', Value: { 'Fn::GetAtt': [id, 'Arn'] } },
  }
}

/** `ferryhook-main` becomes `FerryhookMain`: logical ids are letters and digits only. */
export function logicalId({
  name,
  logicalId: declared,
}: Pick<Table, 'name' | 'logicalId'>): string {
  if (declared !== undefined) return declared
  return name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
