/** Requests to DynamoDB and KMS as the calls that IAM checks. */
import { everyTable } from '@strongroom/server/data-model'

export interface RecordedCall {
  function: string
  service: 'dynamodb' | 'kms'
  action: string
  resources: string[]
  index?: string
  leadingKeys?: string[]
}

type Attributes = Record<string, { S?: string }>
type Item = Record<string, unknown> & { TableName: string }

/** The calls of one request, without the name of the function. */
export function callsOf(
  target: string,
  body: string,
  prefix: string,
): Omit<RecordedCall, 'function'>[] {
  const [api = '', operation = ''] = target.split('.')
  const input = JSON.parse(body) as Record<string, never>
  if (api === 'TrentService') return kmsCalls(operation, input)
  return dynamoCalls(operation, input, prefix)
}

function kmsCalls(
  operation: string,
  input: Record<string, string>,
): Omit<RecordedCall, 'function'>[] {
  const call = (action: string, key = '') => ({
    service: 'kms' as const,
    action,
    resources: [key],
  })
  if (operation !== 'ReEncrypt') return [call(operation, input['KeyId'])]
  return [
    call('ReEncryptFrom', input['SourceKeyId']),
    call('ReEncryptTo', input['DestinationKeyId']),
  ]
}

function dynamoCalls(
  operation: string,
  input: Record<string, unknown>,
  prefix: string,
): Omit<RecordedCall, 'function'>[] {
  const nameOf = (table: string) => table.slice(prefix.length)
  const call = (action: string, table: string, keys: readonly string[], index?: string) => ({
    service: 'dynamodb' as const,
    action,
    resources: [nameOf(table)],
    ...(index !== undefined && { index }),
    ...(keys.length > 0 && { leadingKeys: [...new Set(keys)] }),
  })
  const keyOf = (table: string, attributes: Attributes | undefined) =>
    attributes?.[partitionKey(nameOf(table))]?.S ?? ''
  const on = input as Item
  switch (operation) {
    case 'PutItem':
      return [call(operation, on.TableName, [keyOf(on.TableName, on['Item'] as Attributes)])]
    case 'GetItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [call(operation, on.TableName, [keyOf(on.TableName, on['Key'] as Attributes)])]
    case 'Query': {
      const index = on['IndexName'] as string | undefined
      const attribute = partitionKey(nameOf(on.TableName), index)
      return [call(operation, on.TableName, [queriedKey(on, attribute)], index)]
    }
    case 'TransactWriteItems':
      return (input['TransactItems'] as Record<string, Item>[]).flatMap((entry) =>
        Object.entries(entry).map(([kind, part]) => {
          const action = kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`
          const attributes = (part['Item'] ?? part['Key']) as Attributes
          return call(action, part.TableName, [keyOf(part.TableName, attributes)])
        }),
      )
    case 'TransactGetItems':
      return (input['TransactItems'] as { Get: Item }[]).map(({ Get }) =>
        call('GetItem', Get.TableName, [keyOf(Get.TableName, Get['Key'] as Attributes)]),
      )
    case 'BatchGetItem':
      return Object.entries(input['RequestItems'] as Record<string, { Keys: Attributes[] }>).map(
        ([table, { Keys }]) =>
          call(
            operation,
            table,
            Keys.map((key) => keyOf(table, key)),
          ),
      )
    case 'BatchWriteItem':
      throw new Error('No service writes batches: add them here')
    default:
      return [call(operation, on.TableName, [])]
  }
}

function partitionKey(table: string, index?: string): string {
  const declared = everyTable.find(({ name }) => name === table)
  const key = index === undefined ? declared : declared?.indexes?.[index]
  if (!key) throw new Error(`No declared table ${table} ${index ?? ''}`)
  return key.partitionKey.name
}

/** The value that the condition of a query compares the partition key with. */
function queriedKey(input: Item, attribute: string): string {
  const names = (input['ExpressionAttributeNames'] ?? {}) as Record<string, string>
  const values = (input['ExpressionAttributeValues'] ?? {}) as Attributes
  const condition = String(input['KeyConditionExpression'])
  for (const [, name = '', value = ''] of condition.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)) {
    if ((names[name] ?? name) === attribute) return values[value]?.S ?? ''
  }
  throw new Error(`Cannot find ${attribute} in ${condition}`)
}
