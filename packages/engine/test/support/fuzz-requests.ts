/** Good requests of every operation, from which the fuzz test makes bad ones. */

const key = { id: { S: 'a' } }
const note = { pk: { S: 'p' }, sk: { N: '1' } }
const values = { ':v': { N: '1' }, ':s': { S: 'S' } }
const arn = 'arn:aws:dynamodb:local:000000000000:table/plain'
const backup = `${arn}/backup/01489602797149-73d8d5bc`
const stream = `${arn}/stream/2026-01-01T00:00:00.000`
const throughput = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }

const item = {
  ...key,
  parts: { L: [{ S: 'x' }, { N: '1.50' }, { NULL: true }] },
  doc: { M: { x: { BOOL: true }, y: { B: 'AAEC' } } },
  numbers: { NS: ['1', '2e3'] },
  strings: { SS: ['a', 'b'] },
  bytes: { BS: ['AA==', 'AQ=='] },
}

const comparison = { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ N: '1' }, { N: '5' }] }

const table = {
  TableName: 'spare',
  BillingMode: 'PROVISIONED',
  ProvisionedThroughput: throughput,
  AttributeDefinitions: ['pk', 'sk', 'g'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S',
  })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-g',
      KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a'] },
      ProvisionedThroughput: throughput,
    },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: 'by-time',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'g', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  Tags: [{ Key: 'team', Value: 'blue' }],
  DeletionProtectionEnabled: false,
}

const statements = [
  `SELECT id, doc.x, parts[0] FROM plain WHERE id IN ['a', 'b'] AND size(parts) > 1 ORDER BY id DESC`,
  `SELECT * FROM notes."by-owner" WHERE owner = ? AND since BETWEEN 1 AND 2e3`,
  `SELECT * FROM plain WHERE NOT (n = -1 OR begins_with(s, 'it''s')) AND m IS NOT MISSING`,
  `INSERT INTO plain VALUE {'id': 'z', 'm': {'l': [1, <<'a', 'b'>>, null]}, 'n': ?}`,
  `UPDATE plain SET n = if_not_exists(n, 1) + 1, parts = list_append(parts, [1]) REMOVE doc.x WHERE id = 'a' AND attribute_type(id, 'S') RETURNING ALL NEW *`,
  `UPDATE plain SET strings = set_add(strings, <<'c'>>) WHERE id = 'a' RETURNING MODIFIED OLD *`,
  `DELETE FROM plain WHERE id = 'b' AND contains(strings, 'a') RETURNING ALL OLD *`,
]
const existence = `EXISTS(SELECT * FROM plain WHERE id = 'a' AND n = 1)`
const parameters = [{ S: '1' }]

const dynamoDb: [operation: string, request: object][] = [
  [
    'PutItem',
    {
      TableName: 'plain',
      Item: item,
      ConditionExpression: 'attribute_exists(id) OR n < :v AND NOT contains(#l, :s)',
      ExpressionAttributeNames: { '#l': 'parts' },
      ExpressionAttributeValues: values,
      ReturnValues: 'ALL_OLD',
      ReturnConsumedCapacity: 'INDEXES',
      ReturnItemCollectionMetrics: 'SIZE',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  ],
  [
    'PutItem',
    {
      TableName: 'plain',
      Item: item,
      Expected: { n: { Exists: false }, s: { Value: { S: 'x' } }, q: comparison },
      ConditionalOperator: 'OR',
    },
  ],
  [
    'UpdateItem',
    {
      TableName: 'plain',
      Key: key,
      UpdateExpression:
        'SET n = if_not_exists(n, :v) + :v, #m.x = :v, parts[1] = :s REMOVE parts[0] ADD c :v DELETE strings :set',
      ExpressionAttributeNames: { '#m': 'doc' },
      ExpressionAttributeValues: { ...values, ':set': { SS: ['a'] } },
      ReturnValues: 'UPDATED_NEW',
    },
  ],
  [
    'UpdateItem',
    {
      TableName: 'plain',
      Key: key,
      AttributeUpdates: {
        n: { Action: 'ADD', Value: { N: '1' } },
        s: { Action: 'DELETE', Value: { SS: ['a'] } },
        t: { Value: { S: 'x' } },
      },
      ReturnValues: 'ALL_NEW',
    },
  ],
  [
    'GetItem',
    { TableName: 'plain', Key: key, ProjectionExpression: 'parts[0], doc.x', ConsistentRead: true },
  ],
  ['GetItem', { TableName: 'notes', Key: note, AttributesToGet: ['title', 'owner'] }],
  ['DeleteItem', { TableName: 'plain', Key: key, ReturnValues: 'ALL_OLD' }],
  [
    'Query',
    {
      TableName: 'notes',
      KeyConditionExpression: 'pk = :p AND sk BETWEEN :v AND :v',
      FilterExpression: 'attribute_type(title, :s) OR title IN (:s, :p)',
      ProjectionExpression: 'title',
      ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
      Limit: 5,
      ExclusiveStartKey: note,
      ScanIndexForward: false,
    },
  ],
  [
    'Query',
    {
      TableName: 'notes',
      IndexName: 'by-owner',
      KeyConditions: { owner: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'o' }] } },
      QueryFilter: { title: { ComparisonOperator: 'NOT_NULL' }, sk: comparison },
      ConditionalOperator: 'AND',
      Select: 'COUNT',
    },
  ],
  [
    'Scan',
    {
      TableName: 'plain',
      FilterExpression: 'size(parts) > :v AND begins_with(s, :s)',
      ExpressionAttributeValues: values,
      Segment: 0,
      TotalSegments: 2,
      ReturnConsumedCapacity: 'TOTAL',
    },
  ],
  ['Scan', { TableName: 'notes', IndexName: 'by-owner', ScanFilter: { title: comparison } }],
  [
    'BatchGetItem',
    {
      RequestItems: {
        plain: { Keys: [key, { id: { S: 'b' } }], ProjectionExpression: 'id' },
        notes: { Keys: [note], AttributesToGet: ['pk'] },
      },
    },
  ],
  [
    'BatchWriteItem',
    {
      RequestItems: {
        plain: [{ PutRequest: { Item: item } }, { DeleteRequest: { Key: { id: { S: 'b' } } } }],
      },
    },
  ],
  [
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { TableName: 'plain', Item: item } },
        {
          Update: {
            TableName: 'notes',
            Key: note,
            UpdateExpression: 'ADD n :v',
            ExpressionAttributeValues: { ':v': { N: '1' } },
          },
        },
        { Delete: { TableName: 'plain', Key: { id: { S: 'c' } } } },
        {
          ConditionCheck: {
            TableName: 'plain',
            Key: { id: { S: 'd' } },
            ConditionExpression: 'attribute_not_exists(id)',
          },
        },
      ],
      ClientRequestToken: 'token',
    },
  ],
  [
    'TransactGetItems',
    {
      TransactItems: [
        { Get: { TableName: 'plain', Key: key } },
        { Get: { TableName: 'notes', Key: note, ProjectionExpression: 'title' } },
      ],
    },
  ],
  ...statements.map((Statement): [string, object] => [
    'ExecuteStatement',
    { Statement, Parameters: parameters, Limit: 10, ReturnConsumedCapacity: 'TOTAL' },
  ]),
  [
    'BatchExecuteStatement',
    {
      Statements: [3, 4, 6].map((at) => ({ Statement: statements[at], Parameters: parameters })),
    },
  ],
  [
    'ExecuteTransaction',
    {
      TransactStatements: [
        { Statement: existence },
        { Statement: statements[3], Parameters: parameters },
      ],
      ClientRequestToken: 'token',
    },
  ],
  ['CreateTable', table],
  ['DescribeTable', { TableName: 'plain' }],
  ['ListTables', { Limit: 2, ExclusiveStartTableName: 'notes' }],
  ['DeleteTable', { TableName: 'spare' }],
  [
    'UpdateTable',
    {
      TableName: 'plain',
      AttributeDefinitions: [{ AttributeName: 'g', AttributeType: 'S' }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'new',
            KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        },
      ],
    },
  ],
  [
    'UpdateTable',
    {
      TableName: 'plain',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    },
  ],
  [
    'UpdateTimeToLive',
    { TableName: 'plain', TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } },
  ],
  ['DescribeTimeToLive', { TableName: 'plain' }],
  ['DescribeContinuousBackups', { TableName: 'plain' }],
  [
    'UpdateContinuousBackups',
    {
      TableName: 'plain',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    },
  ],
  ['CreateBackup', { TableName: 'notes', BackupName: 'backup' }],
  ['DescribeBackup', { BackupArn: backup }],
  ['ListBackups', { TableName: 'plain', Limit: 2, BackupType: 'ALL' }],
  ['DeleteBackup', { BackupArn: backup }],
  ['RestoreTableFromBackup', { BackupArn: backup, TargetTableName: 'restored' }],
  [
    'RestoreTableToPointInTime',
    { SourceTableName: 'plain', TargetTableName: 'restored', UseLatestRestorableTime: true },
  ],
  ['TagResource', { ResourceArn: arn, Tags: [{ Key: 'team', Value: 'blue' }] }],
  ['UntagResource', { ResourceArn: arn, TagKeys: ['team'] }],
  ['ListTagsOfResource', { ResourceArn: arn }],
  ['DescribeLimits', {}],
  ['DescribeEndpoints', {}],
]

const streams: [operation: string, request: object][] = [
  ['ListStreams', { TableName: 'plain', Limit: 3 }],
  ['DescribeStream', { StreamArn: stream, Limit: 1 }],
  [
    'GetShardIterator',
    {
      StreamArn: stream,
      ShardId: 'shardId-00000001489602797149-73d8d5bc',
      ShardIteratorType: 'AT_SEQUENCE_NUMBER',
      SequenceNumber: '100000000000000000001',
    },
  ],
  ['GetRecords', { ShardIterator: `${stream}|1|AAAA`, Limit: 10 }],
]

export interface GoodRequest {
  operation: string
  target: string
  request: object
}

export const goodRequests: readonly GoodRequest[] = [
  ...dynamoDb.map(([operation, request]) => ({
    operation,
    target: `DynamoDB_20120810.${operation}`,
    request,
  })),
  ...streams.map(([operation, request]) => ({
    operation,
    target: `DynamoDBStreams_20120810.${operation}`,
    request,
  })),
]
