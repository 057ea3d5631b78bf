/** Renders `docs/dynamodb-differences.md` from the table of differences and from what is left out. */
import { errorsSection } from './aws-errors.ts'
import { operationsSection } from './aws-operations.ts'
import { parametersSection } from './aws-parameters.ts'
import { type Difference, differences } from './differences.ts'

/** What the engine leaves out on purpose, and what it does differently without a wrong result. */
const leftOut: [what: string, reason: string][] = [
  [
    'Export, import, bulk operations, vector search, global tables, Kinesis destinations, resource policies and contributor insights',
    'Not implemented; such a request is rejected with an UnknownOperationException',
  ],
  [
    'Global indexes with more than one attribute in a key',
    'Not implemented; such an index is rejected with a ValidationException',
  ],
  [
    'A stream has one shard while it is enabled, and ShardFilter of DescribeStream has no effect',
    'Shards divide the work of a fleet; here the changes of all items have one order',
  ],
  [
    'A table with point-in-time recovery can be restored to any time until now; in AWS, until five minutes ago',
    'What a write replaces is logged in the same transaction',
  ],
  [
    'The items of one partition may exceed 10 GB, even in a table with local indexes; in AWS a write then fails with an ItemCollectionSizeLimitExceededException. ReturnItemCollectionMetrics always estimates 0 to 1 GB',
    'The limit comes from the size of a partition in AWS',
  ],
  [
    'Provisioned throughput is recorded, not enforced',
    'There is no shared capacity to protect, and nothing is ever throttled',
  ],
  [
    'Global secondary indexes are strongly consistent',
    'An index is written in the same transaction as its item; ConsistentRead on one is still rejected, as in AWS',
  ],
  [
    'Tables and indexes are ACTIVE immediately, except an index that is being filled and a table that is being restored; a deleted table disappears immediately',
    'There is nothing to provision',
  ],
  [
    'Expired items are deleted within seconds; in AWS, within days',
    'An index by expiry time finds them at almost no cost',
  ],
  [
    'ItemCount, TableSizeBytes and IndexSizeBytes are exact at any time; in AWS they are up to six hours old',
    'Every write updates them in its own transaction',
  ],
  [
    'The number of tables, and how often throughput, billing and time to live may change, are not limited; DescribeLimits returns the limits of a new AWS account',
    'These limits protect a shared service',
  ],
  [
    'ARNs contain the account 000000000000; each client sees all tables, regardless of its region and credentials. Signatures are verified only if the engine has credentials, which are required on an address other than loopback',
    'The engine has no accounts',
  ],
  [
    'A projection may name more than 20 attributes; all together at most 100, as in AWS',
    'The AWS API reference names both limits, the developer guide only the second',
  ],
  [
    'Tag names may begin with aws:',
    'AWS reserves the prefix for its own tags, which do not exist here',
  ],
  [
    'An INSERT of an existing item cancels an ExecuteTransaction with the reason ValidationError',
    'AWS documents no cancellation code for it; DynamoDB Local uses this one',
  ],
  [
    'UpdateItem checks the size of the resulting item (400 KB); AWS also checks what the expression writes',
    'The rule of AWS is undocumented and differs by about twenty bytes',
  ],
  [
    'Errors of malformed PartiQL statements have different texts; values in Ion notation count as malformed',
    'AWS returns the texts of its own parser',
  ],
  [
    'An error about overlapping paths names both; AWS may name a different second path. If an update has several mistakes that only show on the item, the first is reported',
    'AWS does not document which, and the path it names does not help',
  ],
  [
    'A PartiQL condition that compares a key attribute with a value of another type is false if it does not select a key; DynamoDB Local rejects it. ORDER BY requires the partition key outside of OR, or in an OR that contains nothing else',
    'Filters behave this way; AWS documents neither',
  ],
  [
    'Where AWS regions have different texts for an error, the engine uses one of them',
    'AWS has no single text',
  ],
]

export function differencesDocument(): string {
  const entries: [string, Difference][] = Object.entries(differences)
  const ofEngine = entries.filter(([, { targets }]) => !targets.includes('dynamodb-local'))
  const ofLocal = entries.filter(([, { targets }]) => targets.includes('dynamodb-local'))
  return [
    '# Differences from DynamoDB',
    '',
    'The conformance suites (`packages/engine/conformance`) run on the three faces of the engine and on',
    "Amazon's DynamoDB Local. Each test states what AWS does. Where a target is known to behave",
    'differently, the test uses the table below. The table is generated from `differences.ts`; a test',
    'fails if an entry is used by no suite or no longer needed by its target.',
    '',
    ...operationsSection(),
    ...parametersSection(),
    ...errorsSection(),
    '## The engine',
    '',
    ...ofEngine.flatMap(section),
    '### Not implemented, or different on purpose',
    '',
    '| | Reason |',
    '| --- | --- |',
    ...leftOut.map(([what, reason]) => `| ${what} | ${reason} |`),
    '',
    '## DynamoDB Local',
    '',
    'DynamoDB Local itself differs from AWS in these points. The engine follows AWS in all of them.',
    '',
    '| Id | AWS | DynamoDB Local | Reason |',
    '| --- | --- | --- | --- |',
    ...ofLocal.map(
      ([id, { aws, instead, reason }]) => `| ${id} | ${aws} | ${instead} | ${reason} |`,
    ),
    '',
  ].join('\n')
}

function section([id, { targets, aws, instead, reason }]: [string, Difference]): string[] {
  const faces = { 'drop-in': 'SDK drop-in', http: 'HTTP', db: 'in process', 'dynamodb-local': '' }
  return [
    `### ${id}`,
    '',
    `- Faces: ${targets.map((kind) => faces[kind]).join(', ')}`,
    `- AWS: ${aws}.`,
    `- The engine: ${instead}.`,
    `- Reason: ${reason}.`,
    '',
  ]
}
