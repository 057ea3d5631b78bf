/** The declared tables as a CloudFormation template. */
import { createTableInput, type Table } from './table.ts'

export function cloudFormation(tables: readonly Table[], { prefix = '' } = {}): object {
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'The DynamoDB tables of Strongroom',
    Resources: Object.fromEntries(
      tables.map((table) => [logicalId(table), tableResource(table, prefix)]),
    ),
    Outputs: Object.assign({}, ...tables.map(tableOutputs)),
  }
}

function tableResource(table: Table, prefix: string): object {
  const { TableName, ...input } = createTableInput(table)
  return {
    Type: 'AWS::DynamoDB::Table',
    // Deleting a stack must never delete what people stored.
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

function tableOutputs(table: Table): object {
  const id = logicalId(table)
  return {
    [`${id}TableName`]: { Value: { Ref: id } },
    [`${id}TableArn`]: { Value: { 'Fn::GetAtt': [id, 'Arn'] } },
  }
}

/** `sealed-secrets` becomes `SealedSecrets`: logical ids are letters and digits only. */
function logicalId({ name }: Table): string {
  return name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
